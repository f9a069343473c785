"""MicroCoder-GRPO as small modules, one formula or rule each (arXiv 2603.07777); docs/GRPO.md tells how they fit.

======================== =========================================================== ==========
module                   what                                                        needs
======================== =========================================================== ==========
``repeats``              does a completion end in a repetition?
``advantages``           A_i = (r_i - mean) / std in a group, without unscorable     torch
``truncation_mask``      the conditional truncation mask                             torch
``objective``            the clipped objective, averaged over tokens                 torch
``log_probs``            log-probabilities at the temperature of sampling            torch
``diversity``            how unlike the completions of a prompt are                  rapidfuzz
``temperature``          from diversity measured over a grid to the temperature      matplotlib
``schedule``             stages of temperature and maximum length
``insights``             the published observations that warnings and refusals name
``health``               figures of a step, thresholds, and the window of steps
``health_checks``        one check for each illness of a run
``monitor``              warns when training leaves the published healthy region
``trl_trainer``          TRL's trainer with all of it (``trl_*``: its parts)         trl
``verl_trainer``         verl's trainer with advantages and mask                     verl
``verl_loss``            the objective as verl's policy loss                         verl
``slime_hook``           slime's post-processing with advantages and mask            torch
======================== =========================================================== ==========

Nothing is imported here, so that a use of the pure modules loads no torch (rapidfuzz and matplotlib are loaded by
the functions that need them).
"""
