#pragma once

#include <functional>
#include <string>

#include "engine/base/message.h"
#include "parallel/communicator.h"

namespace engine {

/// Compares a text of every rank (a version, settings, a digest of the data) with rank 0's. If one
/// differs, throws Error(training) on all ranks with the sentence of the lowest such rank. The
/// ranks that differ get that sentence from `difference`, called with rank 0's text.
void require_same(Communicator& line, const std::string& own,
                  const std::function<Message(const std::string& of_rank_0)>& difference);

}  // namespace engine
