"""A papermill engine that executes a notebook's cells in the process that calls it.

No kernel is started, so nothing is imported that the process has already. Cells leave their state
in the process: give each notebook a process of its own.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from traitlets.config import Config

NAME = "this-process"


class _Publisher(DisplayPublisher):
    def publish(self, data: dict, metadata: dict | None = None, **_: Any) -> None:
        self.shell.outputs.append(new_output("display_data", data, metadata=metadata or {}))


class _Result(DisplayHook):
    def write_output_prompt(self) -> None:
        """Write no prompt; the count is part of the output."""

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        count = self.prompt_count
        output = new_output("execute_result", format_dict, metadata=md_dict, execution_count=count)
        self.shell.outputs.append(output)


class _Shell(InteractiveShell):
    def __init__(self, **traits: Any) -> None:
        self.outputs: list[NotebookNode] = []
        super().__init__(display_pub_class=_Publisher, displayhook_class=_Result, **traits)

    def enable_gui(self, gui: str | None = None) -> None:
        """Accept `%matplotlib inline`, which needs no event loop."""

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        error = new_output("error", ename=etype.__name__, evalue=str(evalue), traceback=stb)
        self.outputs.append(error)

    def execute(self, cell: NotebookNode) -> BaseException | None:
        """Run a code cell, set its outputs, and return the error that ended it."""
        self.outputs = []
        stdout, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            result = self.run_cell(cell.source, store_history=True)
        streams = {"stdout": stdout.getvalue(), "stderr": stderr.getvalue()}
        printed = [new_output("stream", name=n, text=text) for n, text in streams.items() if text]
        cell.outputs = [*printed, *self.outputs]
        cell.execution_count = result.execution_count
        return result.error_before_exec or result.error_in_exec


def shell(formats: tuple[str, ...] = ("png",)) -> _Shell:
    """Return this process's shell; figures are shown in these formats."""
    settings = Config()
    settings.HistoryManager.enabled = False
    # Figures have the margins they are made with; Jupyter would draw each twice to crop it.
    settings.InlineBackend.print_figure_kwargs = {"bbox_inches": None}
    settings.InlineBackend.figure_formats = set(formats)
    return _Shell.instance(config=settings)


class _ThisProcess(Engine):
    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, formats: tuple[str, ...] = ("png",), **_: Any
    ) -> None:
        running = shell(formats)
        for index, cell in enumerate(nb_man.nb.cells):
            nb_man.cell_start(cell, index)
            error = running.execute(cell) if cell.cell_type == "code" else None
            if error is not None:
                nb_man.cell_exception(cell, index, exception=error)
                return
            nb_man.cell_complete(cell, index)


papermill_engines.register(NAME, _ThisProcess)
