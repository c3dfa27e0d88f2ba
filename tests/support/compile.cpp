#include "tests/support/compile.h"

#include <cstdlib>

#include "tests/support/program.h"

#ifndef HEED_CXX
#define HEED_CXX "c++"
#endif

std::vector<std::string> compile_errors(const std::string& source, const std::string& options) {
  const Folder folder;
  const std::string command = "LC_ALL=C '" HEED_CXX "' " + options +
                              " -fsyntax-only -I'" HEED_SOURCE_DIR "' '" +
                              folder.write("source.cpp", source) + "' 2>'" + folder / "err" + "'";
  const bool refused = std::system(command.c_str()) != 0;
  std::vector<std::string> errors;
  for (const std::string& line : lines_of(read_file(folder / "err")))
    if (line.find("error: ") != std::string::npos) errors.push_back(line);
  if (refused && errors.empty()) errors.push_back("the compiler did not run");
  return errors;
}
