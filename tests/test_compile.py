"""The caches of compiled functions: where they are, and what becomes of faults in them."""

import importlib.util
import json
import os
import pickle
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

import lann
from lann import _compile

SOURCE = Path(lann.__file__).parent


@pytest.fixture(autouse=True)
def no_folder_is_given(monkeypatch):
    """Caches are where numba has them by default, also if the tests have a folder for theirs."""
    import numba

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")


@pytest.fixture
def import_kernel(tmp_path):
    """Return a function that imports a new copy of a module with one small kernel, `double`."""
    path = tmp_path / "package" / "kernels.py"
    path.parent.mkdir()
    path.write_text(
        "from lann._compile import njit\n\n@njit(nogil=True, cache=True)\ndef double(x):\n    return 2 * x\n"
    )

    def import_anew():
        spec = importlib.util.spec_from_file_location("kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return import_anew


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A folder for temporary files, in which no private folder has been looked for; one warning is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(_compile, "_warnings", iter(range(100)))
    _compile.private_folder.cache_clear()
    yield folder
    _compile.private_folder.cache_clear()


def block_cache(folder):
    """Make it impossible to write a cache beside the source files of a folder, for root, too."""
    for path in (folder, *folder.rglob("*/")):
        path.joinpath("__pycache__").touch()


@contextmanager
def one_warning(pattern):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    assert len(caught) == 1
    assert re.search(pattern, str(caught[0].message))


def private_files(folder):
    return sorted(path.name for path in folder.glob("lann-numba-*/*/*.nb?"))


@pytest.fixture
def no_home(tmp_path, monkeypatch):
    """A home below a regular file: nobody can write there, not even root."""
    tmp_path.joinpath("file").touch()
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "file" / "home"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)


def test_numba_has_its_own_place_if_it_can_be_written_to(import_kernel, tmp_path, temporary):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_kernel()(2) == 4
    assert len(list(tmp_path.glob("package/__pycache__/*.nbi"))) == 1
    assert list(temporary.iterdir()) == []
    again = import_kernel()
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_private_folder_is_used_if_no_other_can_be_written_to(import_kernel, tmp_path, temporary, no_home):
    block_cache(tmp_path / "package")
    with one_warning("kept in .*NUMBA_CACHE_DIR"):
        first, second = import_kernel(), import_kernel()
        assert [first(2), second(2)] == [4, 4]
    assert sum(second.stats.cache_hits.values()) == 1
    (folder,) = temporary.iterdir()
    assert folder.name == f"lann-numba-{os.geteuid()}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(private_files(temporary)) == 2


def test_functions_work_without_any_cache(import_kernel, tmp_path, monkeypatch, temporary, no_home):
    block_cache(tmp_path / "package")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file" / "temporary"))
    with one_warning("compiled again in every process.*NUMBA_CACHE_DIR"):
        first, second = import_kernel(), import_kernel()
        assert [first(2), second(2)] == [4, 4]
    assert _compile.private_folder() is None
    assert list(temporary.iterdir()) == []


def test_workers_do_not_warn(import_kernel, tmp_path, monkeypatch, temporary, no_home):
    block_cache(tmp_path / "package")
    monkeypatch.setattr(_compile, "parent_process", lambda: "a process that has started this one")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_kernel()(2) == 4
    assert len(private_files(temporary)) == 2


class Trap:
    """Unpickled, it writes a file: proof that code of another user would have run."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def other_owner(folder, monkeypatch):
    real = os.lstat

    def lstat(path, **options):
        found = real(path, **options)
        return (
            os.stat_result((*found[:4], found.st_uid + 1, *found[5:])) if str(path) == str(folder) else found
        )

    folder.mkdir(0o700)
    monkeypatch.setattr(os, "lstat", lstat)


def other_mode(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o777)


def link(folder, monkeypatch):
    elsewhere = folder.parent.parent / "elsewhere"
    elsewhere.mkdir(0o700)
    folder.symlink_to(elsewhere)


@pytest.mark.parametrize("prepare", [other_owner, other_mode, link])
def test_a_folder_that_others_could_have_prepared_is_not_read(
    prepare, import_kernel, tmp_path, monkeypatch, temporary, no_home
):
    # The files that numba would read, with a trap in each index.
    block_cache(tmp_path / "package")
    with one_warning("kept in .*NUMBA_CACHE_DIR"):
        assert import_kernel()(2) == 4
    (own,) = temporary.iterdir()
    own.rename(tmp_path / "prepared")
    prepare(own, monkeypatch)
    for path in tmp_path.glob("prepared/*"):
        shutil.copytree(path, own / path.name)
    for index in own.glob("*/*.nbi"):
        index.write_bytes(pickle.dumps(Trap(str(tmp_path / "trapped"))))

    _compile.private_folder.cache_clear()
    again = import_kernel()
    assert again(2) == 4
    assert not tmp_path.joinpath("trapped").exists()
    fresh = Path(_compile.private_folder())
    assert fresh != own
    assert fresh.parent == temporary
    assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    _compile._remove(str(fresh), os.getpid() + 1)  # a forked child
    assert fresh.exists()
    _compile._remove(str(fresh), os.getpid())
    assert not fresh.exists()


def test_a_folder_in_which_others_can_rename_folders_is_not_used(temporary):
    temporary.chmod(0o777)
    assert _compile.private_folder() is None
    _compile.private_folder.cache_clear()
    temporary.chmod(0o1777)
    assert _compile.private_folder() is not None


PROGRAM = "from lann.outer import call; print(call(1.0))"


@pytest.mark.parametrize("module", ["inner", "constants"])
def test_a_change_of_what_a_function_calls_is_noticed(tmp_path, module):
    """numba itself would take the code of before."""
    package = tmp_path / "lann"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(_compile.__file__, package)
    kernel = "{imports}\nfrom lann._compile import njit\n"
    kernel += "@njit(cache=True)\ndef {name}(x):\n    return {value}\n"
    sources = {
        "constants": "FACTOR = 2.0\n",
        "inner": kernel.format(
            imports="from lann.constants import FACTOR", name="scale", value="1.0 * FACTOR * x"
        ),
        "outer": kernel.format(imports="from lann.inner import scale", name="call", value="scale(x)"),
    }
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(PROGRAM, **environment).stdout == "2.0\n"
    assert list(tmp_path.glob("cache/**/*outer*.nbi"))
    (package / f"{module}.py").write_text(sources[module].replace("2.0", "30.0").replace("1.0", "15.0"))
    assert run(PROGRAM, **environment).stdout == "30.0\n"


def empty(path):
    path.write_bytes(b"")


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def overwrite(path):
    path.write_bytes(b"\x80\x05]q\x00(" + bytes(100))


def replace_by_a_folder(path):
    """Make a file that cannot be read or replaced, by root, too."""
    path.unlink()
    path.joinpath("below").mkdir(parents=True)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [empty, cut, overwrite])
def test_a_damaged_cache_is_replaced(suffix, damage, import_kernel, tmp_path, temporary):
    import_kernel()(2)
    (path,) = tmp_path.glob(f"package/__pycache__/*.{suffix}")
    damage(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_kernel()(2) == 4
    again = import_kernel()
    assert again(2) == 4
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_cache_that_can_be_neither_read_nor_replaced(suffix, import_kernel, tmp_path, temporary):
    import_kernel()(2)
    (path,) = tmp_path.glob(f"package/__pycache__/*.{suffix}")
    replace_by_a_folder(path)
    again = import_kernel()
    with one_warning("cannot be saved in .*NUMBA_CACHE_DIR"):
        assert [again(2), again(2.0)] == [4, 4.0]


def test_no_home_is_no_place_in_the_current_folder(import_kernel, tmp_path, monkeypatch, temporary):
    block_cache(tmp_path / "package")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "~/.cache")  # what is left of it if the user has no home
    monkeypatch.chdir(tmp_path)
    with one_warning("kept in .*NUMBA_CACHE_DIR"):
        assert import_kernel()(2) == 4
    assert len(private_files(temporary)) == 2
    assert list(tmp_path.glob("~/**/*.nb?")) == []


def test_other_packages_have_safe_caches_while_they_are_imported(tmp_path, monkeypatch, temporary, no_home):
    # As pynndescent, which umap imports: eager, lazy and vectorized functions.
    package = tmp_path / "foreign_kernels"
    package.mkdir()
    package.joinpath("__init__.py").write_text(
        textwrap.dedent("""
            import numba

            @numba.njit("i8(i8)", cache=True)
            def eager(x):
                return 2 * x

            @numba.njit(cache=True)
            def lazy(x):
                return 2 * x

            @numba.vectorize(cache=True)
            def on_arrays(x):
                return 2 * x
        """)
    )
    block_cache(package)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RuntimeError, match="cannot cache function"):
        import foreign_kernels
    with one_warning("kept in .*NUMBA_CACHE_DIR"), _compile.safe_caches():
        import foreign_kernels
    assert [f(2) for f in (foreign_kernels.eager, foreign_kernels.lazy, foreign_kernels.on_arrays)] == [4] * 3
    assert len(private_files(temporary)) >= 4


def test_a_full_disk(tmp_path):
    # A limit on the size of files, which holds for root, too, and only in a process of its own.
    program = """
        import json, resource, sys, warnings
        from lann._compile import njit
        import kernels
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = [kernels.double(2), kernels.triple(2)]
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        print(json.dumps([results, [str(warning.message) for warning in caught]]))
    """
    tmp_path.joinpath("kernels.py").write_text(
        textwrap.dedent("""
            from lann._compile import njit

            @njit(cache=True)
            def double(x):
                return 2 * x

            @njit(cache=True)
            def triple(x):
                return 3 * x
        """)
    )
    done = run(program, PYTHONPATH=f"{tmp_path}{os.pathsep}{SOURCE.parent}")
    results, messages = json.loads(done.stdout)
    assert results == [4, 6]
    assert len(messages) == 1
    assert "cannot be saved" in messages[0]
    assert "NUMBA_CACHE_DIR" in messages[0]
    assert list(tmp_path.glob("__pycache__/*.tmp*")) == []


def run(program, **environment):
    done = subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done


def test_fit_and_predict_where_nothing_can_be_written(tmp_path, iris):
    """All modules can be imported, and a classifier works, with one warning."""
    package = tmp_path / "site" / "lann"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    block_cache(package)
    tmp_path.joinpath("file").touch()
    nowhere = str(tmp_path / "file" / "folder")
    program = f"""
        import importlib, json, pkgutil, tempfile
        tempfile.tempdir = {nowhere!r}
        import lann
        assert lann.__file__.startswith({str(package)!r})
        for module in pkgutil.walk_packages(lann.__path__, "lann."):
            if "kernels" in module.name or module.name.startswith(("lann.search", "lann.metrics")):
                importlib.import_module(module.name)
        from lann.baselines import DANN
        from sklearn.datasets import load_iris
        X, y = load_iris(return_X_y=True)
        print(json.dumps(DANN().fit(X, y).predict(X[::50]).tolist()))
    """
    done = run(
        program,
        PYTHONPATH=str(package.parent),
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        NUMBA_CACHE_DIR="",
        NUMBA_OPT="0",
    )
    assert json.loads(done.stdout) == iris[1][::50].tolist()
    assert done.stderr.count("Warning") == 1, done.stderr
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_without_compilation(monkeypatch, import_kernel):
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    double = import_kernel()
    assert double(2) == 4
    assert not hasattr(double, "py_func")


def test_a_folder_that_is_given_is_used_as_it_is_written(temporary, import_kernel, tmp_path, monkeypatch):
    import numba

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "given")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_kernel()(2) == 4
    assert list((tmp_path / "given").rglob("*.nbi"))
    assert not list(temporary.iterdir())


def test_a_numba_without_these_caches_is_used_as_it_is():
    program = """
        import sys
        import numba, numba.np.ufunc
        numba.njit(lambda x: x)(1)
        del numba.np.ufunc.ufuncbuilder
        sys.modules["numba.np.ufunc.ufuncbuilder"] = None
        from lann import _compile
        assert not _compile._MAKERS

        @_compile.njit(cache=False)
        def double(x):
            return 2 * x

        import json, os
        child = os.fork()
        if child == 0:
            os._exit(int(double(2)))
        print(json.dumps([double(2), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [4, 4]
