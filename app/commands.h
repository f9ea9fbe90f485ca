#pragma once

#include "command_line.h"

namespace app {

#define HALFTONE_COMMAND(name, summary) void describe_##name(Command command);
#include "commands.inc"
#undef HALFTONE_COMMAND

}  // namespace app
