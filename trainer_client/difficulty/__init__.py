"""The difficulty filter of a data set: predict, calibrate, select; ``docs/DIFFICULTY.md`` has the method.

| step | modules |
| --- | --- |
| predict | ``rubric``, ``prompt``, ``answer``, ``rater`` (one rating), ``rating_run`` (all of them), ``prediction`` |
| calibrate | ``completions``, ``measuring`` (through the service), ``pass_at_k``, ``calibration`` |
| select | ``labels``, ``selection`` |
| all | ``rows`` and ``formats`` (problems), ``journal`` (what is done), ``documents``, ``plots``, ``page`` |

Importing this package loads nothing; its modules need the extra ``difficulty``.
"""
