#pragma once

#include <string>

#include "network/graph.h"

namespace engine::network {

/// The graph as a text of the notation, with its numbers. `gives`: of the text; `outputs`: the
/// number of the task, which the last layer calls so. The text makes this graph again, and again
/// the same text. Throws Error(settings) for a graph that no such text makes.
std::string to_text(const NetworkGraph& graph, const std::string& gives, std::int64_t outputs);

/// Whether two graphs compute the same with parameters of the same names and initial values.
bool are_equal(const NetworkGraph& a, const NetworkGraph& b);

}  // namespace engine::network
