#pragma once

#include <chrono>
#include <cstddef>

#include "runs/serve/http_library.h"

namespace engine {

/// The size of one request, and the times that it may take.
struct RequestBounds {
    std::size_t head_bytes = 16'384;  ///< request line and headers
    std::size_t head_lines = 64;
    std::chrono::milliseconds first_byte{1000};
    std::chrono::milliseconds request{3000};   ///< all of it, with its body
    std::chrono::milliseconds response{15000};  ///< until the client has taken the answer
};

/// A server that answers one request per connection and receives its head before the library reads
/// it: the library bounds the length of a header, but in some versions not their number, and only
/// the time between two bytes. A head beyond its bounds gets the status 431, a slow one 408.
class BoundedServer final : public httplib::Server {
public:
    explicit BoundedServer(RequestBounds bounds = {}) : bounds_(bounds) {}

private:
    bool process_and_close_socket(socket_t socket) override;

    const RequestBounds bounds_;
};

}  // namespace engine
