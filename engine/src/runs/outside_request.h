#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/runs/outside_request.h"

namespace engine {

/// A request, and the name by which the answer refers to it.
struct WrittenRequest {
    OutsideRequest request;
    std::string id;
};

/// Reads the requests to the holder of a run's lease. Those to holders before it do not count.
class RequestReader {
public:
    RequestReader(const std::filesystem::path& run_folder, std::string lease);
    /// The request in the folder, unless it was returned before.
    std::optional<WrittenRequest> next();

private:
    const std::filesystem::path file_;
    const std::string lease_;
    std::string last_;  ///< id of the request that was returned last
};

}  // namespace engine
