"""heed as a Conan 2 package: conan create cmake"""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Heed(ConanFile):
    name = "heed"
    description = "A minimal tensor framework for learning attention and small models"
    license = "MIT"
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"openmp": [True, False], "openblas": [True, False], "json": [True, False]}
    default_options = {"openmp": True, "openblas": False, "json": False}

    def set_version(self):  # written once, in tensor/version.h
        header = load(self, os.path.join(self.recipe_folder, "..", "tensor", "version.h"))
        self.version = re.search('HEED_VERSION "(.*)"', header)[1]

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..")
        for pattern in "CMakeLists.txt", "LICENSE", "heed.h", "heed/*", "tensor/*", "autograd/*", "nn/*", "cmake/*":
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        if self.options.json:
            self.requires("nlohmann_json/[>=3.11]", visible=False)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in "openmp", "openblas", "json":
            toolchain.cache_variables[f"HEED_{part.upper()}"] = bool(self.options.get_safe(part))
        for part in "BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_BENCH":
            toolchain.cache_variables[f"HEED_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="heed")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):  # heed's own heedConfig.cmake
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "heed")]
