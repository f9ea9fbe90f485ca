#include "parallel/handshake.h"

#include <vector>

#include "engine/base/error.h"
#include "parallel/packed_message.h"

namespace engine {
namespace {

using kernels::DType;

kernels::Array bytes_of(std::string& text) {
    return {text.data(), DType::u8, static_cast<std::int64_t>(text.size())};
}

std::string text_of_rank_0(Communicator& line, const std::string& own) {
    const std::int64_t size = gather_counts(line, std::ssize(own)).front();
    std::string text = line.rank() == 0 ? own : std::string(static_cast<std::size_t>(size), '\0');
    if (size > 0) line.broadcast(bytes_of(text));
    return text;
}

/// The first text that is not empty, in the order of the ranks.
std::string first_text(Communicator& line, std::string own) {
    const std::vector<std::int64_t> sizes = gather_counts(line, std::ssize(own));
    std::int64_t total = 0;
    for (const std::int64_t size : sizes) total += size;
    std::string all(static_cast<std::size_t>(total), '\0');
    if (total > 0) line.gather(bytes_of(all), bytes_of(own), sizes);
    for (const std::int64_t size : sizes) {
        if (size > 0) return all.substr(0, static_cast<std::size_t>(size));
    }
    return {};
}

}  // namespace

void require_same(Communicator& line, const std::string& own,
                  const std::function<Message(const std::string& of_rank_0)>& difference) {
    const std::string first = text_of_rank_0(line, own);
    const std::string found = first_text(line, own == first ? "" : packed(difference(first)));
    if (!found.empty()) throw Error(ErrorCode::training, unpacked(found));
}

}  // namespace engine
