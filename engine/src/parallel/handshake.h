#pragma once

#include <functional>
#include <string>

#include "engine/message.h"
#include "parallel/communicator.h"

namespace engine {

/// All ranks compare a text with rank 0's: a version, settings, a digest of the data. Throws
/// Error(training) on all ranks if one differs, with the sentence of the lowest such rank:
/// `difference` is called on ranks that differ, with rank 0's text.
void require_same(Communicator& line, const std::string& own,
                  const std::function<Message(const std::string& of_rank_0)>& difference);

}  // namespace engine
