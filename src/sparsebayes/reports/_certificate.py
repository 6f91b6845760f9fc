"""What the solver came to, in plain words."""

from __future__ import annotations

import math
from typing import Any

from sparsebayes.estimators._representation import _certificates, status
from sparsebayes.reports import _drawings
from sparsebayes.reports._html import Section, bullets, facts, heading, paragraph
from sparsebayes.reports._subject import Subject
from sparsebayes.solvers.certificate import Certificate
from sparsebayes.summaries.numbers import significant


def certificate_section(subject: Subject) -> Section:
    """The section about the optimum that was found, and the way to it."""
    model, parts = subject.model, []
    certificates = _certificates(model)
    if not certificates:
        parts.append(paragraph(f"This fit has no certificate; its status is: {status(model)}."))
    for k, certificate in enumerate(certificates):
        parts += [heading(f"Model {k + 1} of {len(certificates)}")] if len(certificates) > 1 else []
        parts += [bullets(in_words(certificate)), facts(_figures(certificate))]
    return Section("certificate", "Certificate", [*parts, *_drawings.evidence(subject)])


def in_words(certificate: Certificate) -> list[str]:
    """What a certificate says, a sentence for each thing."""
    words = []
    if certificate.at_noise_floor:
        words.append(
            "The estimated noise fell to its floor: the functions reproduce the targets, and the error bars mean "
            "nothing. Give the noise variance, or fewer functions."
        )
    if certificate.is_local_maximum:
        words.append(
            "The solution is a local maximum of the evidence: neither adding any candidate function nor changing the "
            "precisions of the weights, one alone or all together with the noise if that is estimated, would raise it."
        )
        words.append("That no other maximum is higher is not proven.")
    else:
        words.append(
            "The solution is not certified as a local maximum of the evidence: one of the numbers below is not as "
            "small as it should be, or the largest eigenvalue not negative. More iterations or a smaller tol may help."
        )
    if certificate.starts:
        words.append(_of_search(certificate))
    return words


def _of_search(certificate: Certificate) -> str:
    """What the search for a higher maximum found."""
    found = f"The search for higher maxima ended {certificate.starts} times, {certificate.agreed} of them in this model"
    if not math.isfinite(certificate.gap):
        return f"{found}."
    return f"{found}; the best of the others was {significant(certificate.gap, 3)} nats lower."


def _figures(certificate: Certificate) -> list[tuple[str, str]]:
    """The numbers behind the words."""
    values: dict[str, Any] = {
        "largest gain by adding a function": f"{significant(certificate.gain_outside)} nats",
        "largest step in log α": significant(certificate.log_alpha_step),
        "slope in the log noise precision": significant(certificate.noise_gradient),
        "largest eigenvalue of the joint Hessian": significant(certificate.hessian_eigenvalue),
    }
    return [*values.items()]
