#pragma once

#include <string>
#include <string_view>

#include "engine/base/message.h"

namespace engine {

/// A message as one text, to be sent to another rank: it keeps its key and its arguments, so that
/// the window can still translate it.
std::string packed(const Message& message);
Message unpacked(std::string_view text);

}  // namespace engine
