#pragma once

#include <iosfwd>

namespace engine {

/// Runs single operations (interfaces.md, section 4): reads one JSON case a line, writes one JSON
/// result a line, in order: {"out": file}, or {"error": sentence} for a case that failed, after
/// which the next one runs. Out of memory is such an error: a tensor, and the scratch memory of a
/// kernel, is refused before it is taken if the machine cannot hold it. Empty lines are passed
/// over. Returns the exit code of the command line: 0 however many cases failed, 5 if the results
/// could not be written.
int run_op_script(std::istream& cases, std::ostream& results);

}  // namespace engine
