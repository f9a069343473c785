"""``microcoder train config.yaml``: reinforcement learning of a code model with TRL, judged by the service.

| module | what it does |
| --- | --- |
| ``config`` | the typed configuration; ``algorithm`` its algorithms, ``source`` its file and the lines of faults |
| ``problems`` | files of problems as rows of training |
| ``policy`` | the model and its tokenizer |
| ``arguments`` | the configuration as TRL's ``GRPOConfig`` |
| ``reward`` | rewards by the service |
| ``record`` | what happens, as JSON lines; ``plots`` draws them |
| ``run`` | puts them together, ``check`` says beforehand whether it will work |

Importing ``config``, ``problems``, ``record`` or ``check`` loads neither torch nor trl.
"""
