# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""The Conan 2 package: the headers and the license, under the names that the CMake package has. With the option
`compiled` also straggle::compiled, the core of the mitigator as a static library.

    conan create . -s compiler.cppstd=20 [-o straggle/*:compiled=True]
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, get, load
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.3"  # for test_package_folder


class StraggleRecipe(ConanFile):
    name = "straggle"
    description = "Which nodes of a cluster are slow, which tasks straggle, and what to do about it"
    license = "BSL-1.0"
    url = "https://github.com/straggle-authors/straggle"
    homepage = "https://github.com/straggle-authors/straggle"
    topics = ("scheduling", "stragglers", "statistics", "header-only")
    package_type = "header-library"
    options = {"compiled": [True, False]}
    default_options = {"compiled": False}
    # Without the option only to see whether the consumer compiles as C++20: the package is the same for all of them.
    settings = "os", "arch", "compiler", "build_type"
    exports = "include/straggle/version.hpp"  # the version can be read wherever the recipe is
    exports_sources = "include/*", "src/*", "cmake/*", "CMakeLists.txt", "LICENSE"
    no_copy_source = True
    test_package_folder = "packaging/conan/test_package"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "straggle", "version.hpp"))
        numbers = dict(re.findall(r"^#define STRAGGLE_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$", text, re.MULTILINE))
        self.version = "{MAJOR}.{MINOR}.{PATCH}".format(**numbers)

    def layout(self):
        basic_layout(self, src_folder=".")

    def source(self):
        # The tree is exported with the recipe. In an index the recipe lies alone, beside conandata.yml.
        if not os.path.isdir(os.path.join(self.source_folder, "include")):
            get(self, **self.conan_data["sources"][str(self.version)], strip_root=True)

    def configure(self):
        if self.options.compiled:
            self.package_type = "static-library"

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        least = {"gcc": "11", "clang": "16", "apple-clang": "15", "msvc": "193"}
        name, version = self.settings.get_safe("compiler"), self.settings.get_safe("compiler.version")
        if name in least and version and Version(version) < least[name]:
            raise ConanInvalidConfiguration(f"{name} {version}, but at least {least[name]} is needed")

    def generate(self):
        if not self.options.compiled:
            return
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # the source tree stays as it is
        for option in "TESTS", "EXAMPLES":
            toolchain.cache_variables[f"STRAGGLE_BUILD_{option}"] = False
        toolchain.generate()

    def build(self):
        if self.options.compiled:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="straggle_compiled")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        if self.options.compiled:
            for pattern in "*.a", "*.lib":
                copy(self, pattern, self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)

    def package_info(self):
        headers = self.cpp_info
        if self.options.compiled:
            headers = self.cpp_info.components["headers"]
            compiled = self.cpp_info.components["compiled"]
            compiled.libs, compiled.defines, compiled.requires = ["straggle"], ["STRAGGLE_COMPILED"], ["headers"]
            compiled.set_property("cmake_target_name", "straggle::compiled")
        headers.bindirs = []
        headers.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "straggle")
        headers.set_property("cmake_target_name", "straggle::straggle")
        self.cpp_info.set_property("cmake_config_version_compat", "SameMinorVersion")
        headers.set_property("pkg_config_name", "straggle")
