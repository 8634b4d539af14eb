# Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
# (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)
"""Takes the recipe through the life that `conan create` gives it, with the stand-in for Conan beside this file, and
looks at the package; then builds and runs packaging/conan/test_package against it.

    run_recipe.py SOURCE WORK INSTALLED VERSION CMAKE CMAKE_ARGUMENT...

INSTALLED is what `cmake --install` made: the names in the Conan package must be those in there.
"""
import importlib.util
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import stand_in

DESCRIPTION = {
    "name": "straggle", "license": "BSL-1.0", "package_type": "header-library", "no_copy_source": True,
    "settings": ("os", "arch", "compiler", "build_type"), "test_package_folder": "packaging/conan/test_package",
}
NO_LIBRARY = {"libs": [], "libdirs": [], "bindirs": [], "includedirs": ["include"]}


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: found {found!r}, expected {wanted!r}")


def recipe_class(folder):
    spec = importlib.util.spec_from_file_location("recipe", folder / "conanfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    recipes = [c for c in vars(module).values()
               if isinstance(c, type) and issubclass(c, stand_in.ConanFile) and c is not stand_in.ConanFile]
    expect(f"recipes in {folder}", len(recipes), 1)
    return recipes[0]


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


def names_of_the_cmake_package(installed):
    """What find_package, target_link_libraries and pkg-config are to be given."""
    config, = installed.rglob("*Config.cmake")
    version, = installed.rglob("*ConfigVersion.cmake")
    pc, = installed.rglob("*.pc")
    target, = re.findall(r"^add_library\((\S+) INTERFACE IMPORTED\)", config.read_text(), re.MULTILINE)
    same_minor = "PACKAGE_FIND_VERSION_MINOR STREQUAL" in version.read_text()
    return {"cmake_file_name": config.name.removesuffix("Config.cmake"), "cmake_target_name": target,
            "cmake_config_version_compat": "SameMinorVersion" if same_minor else "something else",
            "pkg_config_name": pc.stem}


def create(source, work, installed, version):
    """Leaves the package in work/package and returns its cpp_info."""
    settings = {"os": "Linux", "arch": "x86_64", "compiler": "gcc", "compiler.version": "12", "compiler.cppstd": "20", "build_type": "Release"}
    exported, sources, package = work / "exported", work / "sources", work / "package"

    # conan export: the recipe and what belongs to it on one side, its sources on the other.
    recipe = recipe_class(source)(source, settings)
    for name, value in DESCRIPTION.items():
        expect(name, getattr(type(recipe), name), value)
    exported.mkdir(parents=True)
    shutil.copy2(source / "conanfile.py", exported)
    for patterns, to in (recipe.exports, exported), (recipe.exports_sources, sources):
        for pattern in [patterns] if isinstance(patterns, str) else patterns:
            if not stand_in.copy(recipe, pattern, source, to):
                sys.exit(f"nothing in the tree matches {pattern}")
    wanted_sources = {f"include/{name}": text for name, text in files(source / "include").items()}
    for folder in "src", "cmake":
        wanted_sources |= {f"{folder}/{name}": text for name, text in files(source / folder).items()}
    for name in "CMakeLists.txt", "LICENSE":
        wanted_sources[name] = (source / name).read_bytes()
    expect("exported sources", files(sources), wanted_sources)

    # In the cache.
    recipe = recipe_class(exported)(exported, settings)
    recipe.set_version()
    expect("version", recipe.version, version)
    for standard, fine in ("17", False), ("gnu17", False), ("20", True), ("gnu20", True), ("23", True):
        recipe.settings["compiler.cppstd"] = standard
        try:
            recipe.validate()
            expect(f"C++{standard} is taken", True, fine)
        except stand_in.ConanInvalidConfiguration:
            expect(f"C++{standard} is taken", False, fine)
    recipe.settings["compiler.cppstd"] = "20"
    for compiler, number, fine in ("gcc", "10", False), ("gcc", "11.2", True), ("clang", "15", False), ("sun-cc", "1", True):
        recipe.settings |= {"compiler": compiler, "compiler.version": number}
        try:
            recipe.validate()
            expect(f"{compiler} {number} is taken", True, fine)
        except stand_in.ConanInvalidConfiguration:
            expect(f"{compiler} {number} is taken", False, fine)
    recipe.configure()
    expect("package_type", recipe.package_type, "header-library")
    recipe.package_id()
    expect("settings that make a different package", recipe.info.settings, {})
    recipe.source_folder, recipe.build_folder, recipe.package_folder = str(sources), str(work / "b"), str(package)
    recipe.layout()
    recipe.fetched = None
    recipe.source()
    expect("what source() fetches beside the tree", recipe.fetched, None)
    address = re.search(r'^  "' + re.escape(version) + r'":\n    url: "([^"]+)"', (source / "conandata.yml").read_text(), re.M)[1]
    recipe.conan_data = {"sources": {version: {"url": address, "sha256": ""}}}
    recipe.source_folder = str(work)
    recipe.source()
    expect("what source() fetches without the tree", recipe.fetched, address)
    recipe.source_folder = str(sources)
    recipe.generate()
    recipe.build()
    recipe.package()
    recipe.package_info()

    wanted = {f"include/{name}": text for name, text in files(installed / "include").items()}
    wanted["licenses/LICENSE"] = (source / "LICENSE").read_bytes()
    expect("files of the package", sorted(files(package)), sorted(wanted))
    expect("contents of the package", files(package), wanted)
    for name, value in NO_LIBRARY.items():
        expect(name, getattr(recipe.cpp_info, name), value)
    expect("properties", recipe.cpp_info.properties, names_of_the_cmake_package(installed))
    return recipe.cpp_info


def look_at_compiled(source):
    """With the option, there are a static library and a target more, and the settings count."""
    recipe = recipe_class(source)(source, {"os": "Linux"})
    recipe.options.compiled = True
    recipe.configure()
    expect("package_type", recipe.package_type, "static-library")
    recipe.package_id()
    expect("settings that make a different package", recipe.info.settings, {"os": "Linux"})
    recipe.package_info()
    compiled = recipe.cpp_info.components["compiled"]
    for name, wanted in ("libs", ["straggle"]), ("defines", ["STRAGGLE_COMPILED"]), ("requires", ["headers"]), ("libdirs", ["lib"]):
        expect(name, getattr(compiled, name), wanted)
    expect("target", compiled.properties, {"cmake_target_name": "straggle::compiled"})


def write_package_configuration(folder, package, info):
    """Like Conan's CMakeDeps: a target by the name in the properties, in a file by the name in them."""
    folder.mkdir()
    target, file = info.properties["cmake_target_name"], info.properties["cmake_file_name"]
    (folder / f"{file}-config.cmake").write_text(
        f"add_library({target} INTERFACE IMPORTED)\n"
        f"target_include_directories({target} INTERFACE {' '.join(str(package / d) for d in info.includedirs)})\n")


def test_package(source, work, version):
    """What follows in `conan create`: the recipe in the folder that the first one names."""
    folder = source / DESCRIPTION["test_package_folder"]
    recipe = recipe_class(folder)(folder, {"os": "Linux"})
    expect("generators", recipe.generators, "CMakeDeps")
    recipe.tested_reference_str = f"straggle/{version}"
    recipe.source_folder, recipe.build_folder = str(folder), str(work / "test_package")
    recipe.generators_folder = str(work / "generators")
    recipe.requirements()
    expect("requirements", recipe.required, [recipe.tested_reference_str])
    recipe.dependencies = {"straggle": SimpleNamespace(ref=SimpleNamespace(version=version))}
    recipe.layout()
    recipe.generate()
    recipe.build()
    recipe.test()


def main():
    source, work, installed = (Path(argument).resolve() for argument in sys.argv[1:4])
    version, stand_in.CMake.program, *stand_in.CMake.arguments = sys.argv[4:]
    shutil.rmtree(work, ignore_errors=True)
    stand_in.install()
    before = sorted(files(source / "packaging"))
    info = create(source, work, installed, version)
    look_at_compiled(source)
    write_package_configuration(work / "generators", work / "package", info)
    test_package(source, work, version)
    expect("files in packaging/", sorted(files(source / "packaging")), before)


if __name__ == "__main__":
    main()
