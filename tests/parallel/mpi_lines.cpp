// One rank of a launch: what its lines give is compared with sums that each rank works out itself.
// `abort`: rank 1 gives up, and the others must get its sentence.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/parallel/launch.h"
#include "kernels/rank_group.h"
#include "parallel/communicator.h"

namespace {

using engine::Communicator;
using kernels::Array;
using kernels::DType;

int failures = 0;

void expect(bool is_right, const std::string& what) {
    if (is_right) return;
    ++failures;
    std::cerr << "WRONG on rank " << engine::launched_rank().rank << ": " << what << '\n';
}

/// Bytes of random finite numbers that every rank can work out for every other.
std::vector<std::byte> numbers_of(int rank, DType dtype, std::int64_t count) {
    std::vector<std::byte> out(static_cast<std::size_t>(count) * kernels::size_of(dtype));
    std::uint32_t state = 12345u + 777u * static_cast<std::uint32_t>(rank);
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        const double value = std::ldexp(static_cast<double>(state >> 8) - 8388608.0, -20);
        void* const at = out.data() + static_cast<std::size_t>(i) * kernels::size_of(dtype);
        if (dtype == DType::f64) *static_cast<double*>(at) = value;
        if (dtype == DType::f32) *static_cast<float*>(at) = static_cast<float>(value);
        if (dtype == DType::f16)
            *static_cast<kernels::Half*>(at) = kernels::to_half(static_cast<float>(value));
        if (dtype == DType::bf16)
            *static_cast<kernels::BFloat16*>(at) = kernels::to_bfloat16(static_cast<float>(value));
        if (dtype == DType::i64) *static_cast<std::int64_t*>(at) = static_cast<int>(state);
    }
    return out;
}

/// On both sides of the limit from which on each rank adds a part, and of a piece of a message.
const std::vector<std::int64_t> counts = {1, 3, 1000, 1025, 65'537, 1'000'003};

void check_sums(Communicator& line) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64}) {
        for (const std::int64_t count : counts) {
            std::vector<std::vector<std::byte>> all;
            std::vector<const void*> parts;
            for (int rank = 0; rank < line.size(); ++rank)
                parts.push_back(all.emplace_back(numbers_of(rank, dtype, count)).data());
            auto mine = all[static_cast<std::size_t>(line.rank())];
            auto wanted = mine;
            void* const out = wanted.data();
            kernels::cpu::rank_sum({&out, 1}, parts, dtype, 0, count);
            line.sum({mine.data(), dtype, count});
            expect(mine == wanted, "the sum of " + std::to_string(count) + " numbers of type " +
                                       std::to_string(static_cast<int>(dtype)));
        }
    }
}

void check_broadcasts(Communicator& line) {
    for (const std::int64_t count : counts) {
        auto mine = numbers_of(line.rank(), DType::f32, count);
        line.broadcast({mine.data(), DType::f32, count});
        expect(mine == numbers_of(0, DType::f32, count),
               "a broadcast of " + std::to_string(count) + " numbers");
    }
}

/// Parts of different sizes, one of them empty.
void check_gathers(Communicator& line) {
    std::vector<std::int64_t> sizes;
    std::vector<std::byte> wanted;
    for (int rank = 0; rank < line.size(); ++rank) {
        sizes.push_back(rank == 1 ? 0 : 100'000 + rank);
        const auto part = numbers_of(rank, DType::f32, sizes.back());
        wanted.insert(wanted.end(), part.begin(), part.end());
    }
    const std::int64_t own = sizes[static_cast<std::size_t>(line.rank())];
    const auto mine = numbers_of(line.rank(), DType::f32, own);
    std::vector<std::byte> all(wanted.size());
    line.gather({all.data(), DType::f32, std::ssize(all) / 4}, {mine.data(), DType::f32, own},
                sizes);
    expect(all == wanted, "a gathering of parts of different sizes");
    const auto ranks = engine::gather_counts(line, line.rank());
    for (int rank = 0; rank < line.size(); ++rank)
        expect(ranks[static_cast<std::size_t>(rank)] == rank, "a gathering of counts");
}

/// Two lines that threads use at once, each in its own order.
void check_two_lines(Communicator& line) {
    const auto second = line.line();
    const auto work = [](Communicator& each, int times, std::int64_t count) {
        for (int i = 0; i < times; ++i) {
            std::vector<float> ones(static_cast<std::size_t>(count), 1.f);
            each.sum({ones.data(), DType::f32, count});
            const auto ranks = static_cast<float>(each.size());
            expect(ones.front() == ranks && ones.back() == ranks, "a sum beside another line");
        }
    };
    std::thread beside(work, std::ref(*second), 20, 300'000);
    work(line, 200, 3);
    beside.join();
}

/// All ranks but rank 1 must get its sentence, and so must further calls.
int expect_abort(Communicator& line) {
    const std::string sentence = "Rank 1: it cannot go on.";
    if (line.rank() == 1) line.abort(sentence);
    for (int call = 0; call < 2; ++call) {
        try {
            for (;;) line.barrier();
        } catch (const engine::Error& error) {
            if (error.what() != sentence) return 9;
        }
    }
    return 5;
}

}  // namespace

int main(int argc, char** argv) {
    const auto line = engine::launched_communicator();
    if (line == nullptr) {
        std::cerr << "to be started by mpirun with several ranks\n";
        return 2;
    }
    if (argc > 1 && std::string(argv[1]) == "abort")
        return engine::leave_launch(expect_abort(*line));
    check_sums(*line);
    check_broadcasts(*line);
    check_gathers(*line);
    check_two_lines(*line);
    line->barrier();
    return engine::leave_launch(failures == 0 ? 0 : 9);
}
