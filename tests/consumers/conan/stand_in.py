# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""A stand-in for the Python package `conan`, written for these tests: as much of it as the recipes of this project use,
each thing doing what Conan's documentation says of it. Whether Conan itself takes the recipes is seen by the test
"consumer: conan", where it is installed.
"""
import collections
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path


class ConanInvalidConfiguration(Exception):
    pass


class Settings(dict):
    """settings.get_safe("compiler.cppstd")"""

    def get_safe(self, name):
        return self.get(name)


class Info:
    """What the identity of a package depends on."""

    def __init__(self, settings, options):
        self.settings, self.options = settings, options

    def clear(self):
        self.settings, self.options = {}, types.SimpleNamespace()


class CppInfo:
    def __init__(self):
        self.includedirs, self.libdirs, self.bindirs = ["include"], ["lib"], ["bin"]
        self.libs, self.properties, self.components = [], {}, collections.defaultdict(CppInfo)

    @property
    def bindir(self):
        return self.bindirs[0]

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    name = version = settings = None
    exports = exports_sources = ()
    default_options = {}

    def __init__(self, folder, settings):
        self.recipe_folder = str(folder)
        self.settings = Settings(settings)
        self.options = types.SimpleNamespace(**self.default_options)
        self.info = Info(dict(settings), self.options)
        self.cpp_info = CppInfo()
        self.cpp = types.SimpleNamespace(source=CppInfo(), build=CppInfo(), package=CppInfo())
        self.source_folder = self.build_folder = self.generators_folder = self.package_folder = None
        self.required = []

    def requires(self, reference):
        self.required.append(reference)

    def run(self, command, env=None):
        assert env in ("conanrun", "conanbuild", None), env
        print(f"+ {command}", flush=True)
        subprocess.run(command, shell=True, check=True)


def check_min_cppstd(conanfile, wanted):
    have = re.sub(r"^gnu", "", conanfile.settings.get_safe("compiler.cppstd"))
    if int(have) < wanted:
        raise ConanInvalidConfiguration(f"C++{have}, but at least C++{wanted} is needed")


def can_run(conanfile):
    return True


def load(conanfile, path):
    return Path(path).read_text(encoding="utf-8")


def copy(conanfile, pattern, src, dst):
    """Every file below `src` whose path relative to it matches; `*` matches a slash, too."""
    copied = []
    for file in sorted(p for p in Path(src).rglob("*") if p.is_file()):
        relative = file.relative_to(src).as_posix()
        if fnmatch.fnmatchcase(relative, pattern):
            target = Path(dst, relative)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
            copied.append(str(target))
    return copied


class Version:
    """Version("11.2") < "12" """

    def __init__(self, text):
        self.numbers = [int(part) for part in str(text).split(".")]

    def __lt__(self, other):
        return self.numbers < Version(other).numbers


def get(conanfile, url, sha256, strip_root):
    conanfile.fetched = url


def basic_layout(conanfile, src_folder="."):
    conanfile.source_folder = os.path.normpath(os.path.join(conanfile.source_folder, src_folder))
    conanfile.build_folder = os.path.join(conanfile.build_folder, "build")


def cmake_layout(conanfile):
    basic_layout(conanfile)
    conanfile.cpp.build.bindirs = [conanfile.build_folder]


class CMakeToolchain:
    user_presets_path = None

    def __init__(self, conanfile):
        self.conanfile = conanfile

    def generate(self):
        # Otherwise CMakeUserPresets.json would appear beside the CMakeLists.txt.
        assert self.user_presets_path is False
        self.conanfile.toolchain_made = True


class CMake:
    program, arguments = "cmake", []  # of the configuration: set by the test

    def __init__(self, conanfile):
        assert conanfile.toolchain_made
        self.conanfile = conanfile

    def configure(self):
        subprocess.run([self.program, "-S", self.conanfile.source_folder, "-B", self.conanfile.build_folder,
                        f"-DCMAKE_PREFIX_PATH={self.conanfile.generators_folder}", *self.arguments], check=True)

    def build(self):
        subprocess.run([self.program, "--build", self.conanfile.build_folder], check=True)


def install():
    """From here on `import conan` gets these."""
    modules = {
        "conan": {"ConanFile": ConanFile},
        "conan.errors": {"ConanInvalidConfiguration": ConanInvalidConfiguration},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": check_min_cppstd, "can_run": can_run},
        "conan.tools.cmake": {"CMake": CMake, "CMakeToolchain": CMakeToolchain, "cmake_layout": cmake_layout},
        "conan.tools.files": {"copy": copy, "get": get, "load": load},
        "conan.tools.layout": {"basic_layout": basic_layout},
        "conan.tools.scm": {"Version": Version},
    }
    for name, contents in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(contents)
        sys.modules[name] = module
