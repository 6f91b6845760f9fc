"""What reads the data: from an operator and a target to the statistics that a solver sees, never to α."""
