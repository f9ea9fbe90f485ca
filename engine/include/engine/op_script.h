#pragma once

#include <iosfwd>

namespace engine {

/// Runs single operations (interfaces.md, section 4): reads one case a line, writes one result a
/// line. A failing case gives
/// {"error": "..."} on its line and the next one runs. Returns the exit code: 0, also with failing
/// cases.
int run_op_script(std::istream& cases, std::ostream& results);

}  // namespace engine
