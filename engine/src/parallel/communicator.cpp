#include "parallel/communicator.h"

#include "engine/base/error.h"
#include "parallel/device_ranks.h"

namespace engine {
namespace {

template <typename F>
void between(DeviceRanks& ranks, const F& work) {
    const DeviceScope scope(ranks.device());
    ranks.fork();
    work(ranks.group(), ranks.stream());
    ranks.join();
}

constexpr char separator = '\x1f';  // ASCII's unit separator: never part of a sentence

kernels::Array bytes_of(std::string& text) {
    return {text.data(), kernels::DType::u8, static_cast<std::int64_t>(text.size())};
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

std::vector<std::int64_t> gather_counts(Communicator& line, std::int64_t mine) {
    const auto size = static_cast<std::size_t>(line.size());
    std::vector<std::int64_t> all(size);
    const std::vector<std::int64_t> ones(size, 1);
    line.gather({all.data(), kernels::DType::i64, line.size()}, {&mine, kernels::DType::i64, 1},
                ones);
    return all;
}

bool any(Communicator& line, bool mine) {
    std::int64_t count = mine ? 1 : 0;
    line.sum({&count, kernels::DType::i64, 1});
    return count > 0;
}

void broadcast_over(Communicator& ranks, kernels::Array data, const Device& device) {
    if (device.kind == Device::Kind::cpu) return ranks.broadcast(data);
    between(*ranks.on_device(),
            [&](auto& group, kernels::Stream stream) { group.broadcast(data, stream); });
}

void sum_over(Communicator& ranks, kernels::Array data, const Device& device) {
    if (device.kind == Device::Kind::cpu) return ranks.sum(data);
    between(*ranks.on_device(),
            [&](auto& group, kernels::Stream stream) { group.sum(data, stream); });
}

void gather_over(Communicator& ranks, kernels::Array all, kernels::ConstArray part,
                 std::span<const std::int64_t> counts, const Device& device) {
    if (device.kind == Device::Kind::cpu) return ranks.gather(all, part, counts);
    between(*ranks.on_device(),
            [&](auto& group, kernels::Stream stream) { group.gather(all, part, counts, stream); });
}

std::string packed(const Message& message) {
    std::string out = message.text;
    for (const std::string& arg : message.args) out += separator + arg;
    return out;
}

Message unpacked(std::string_view text) {
    Message out;
    out.text = text.substr(0, text.find(separator));
    for (std::size_t at = text.find(separator); at != std::string_view::npos;) {
        const std::size_t end = text.find(separator, at + 1);
        out.args.emplace_back(
            text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
        at = end;
    }
    return out;
}

void require_same(Communicator& line, const std::string& own,
                  const std::function<Message(const std::string& of_rank_0)>& difference) {
    const std::string first = text_of_rank_0(line, own);
    const std::string found = first_text(line, own == first ? "" : packed(difference(first)));
    if (!found.empty()) throw Error(ErrorCode::training, unpacked(found));
}

}  // namespace engine
