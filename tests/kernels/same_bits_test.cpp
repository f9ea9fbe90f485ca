#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>

#include "cpu/gemm_scratch.h"
#include "kernels/attention.h"
#include "kernels/conv2d.h"
#include "kernels/conv2d_problem.h"
#include "kernels/device.h"
#include "kernels/gemm.h"
#include "kernels/support.h"

// A resumed run repeats the first one bit for bit, in another process, with other addresses and
// with caches that hold something else. So the bits of a product may depend on its shape, its type,
// the processor and the number of threads, and on nothing else.
namespace kernels::test {
namespace {

using Bytes = std::vector<unsigned char>;

/// Where a call finds its operands, and what lies around them.
struct Surroundings {
    std::size_t offset = 0;     ///< bytes of an operand's address beyond a multiple of 128
    unsigned char filling = 0;  ///< 0xff: NaN in every floating type
};

/// Elements at an address of our choice.
class Placed {
public:
    Placed(const Buffer& values, const Surroundings& around)
        : dtype_(values.dtype()),
          size_(values.size()),
          bytes_(values.bytes().size()),
          memory_(bytes_ + 6 * line, around.filling) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        data_ = memory_.data() + (line - address % line) + 2 * line + around.offset;
        std::copy(values.bytes().begin(), values.bytes().end(), data_);
    }
    Placed(const Placed&) = delete;
    Placed& operator=(const Placed&) = delete;
    Array array() { return {data_, dtype_, size_}; }
    operator Array() { return array(); }
    operator ConstArray() const { return {data_, dtype_, size_}; }
    void* data() { return data_; }
    Bytes bytes() const { return {data_, data_ + bytes_}; }

private:
    static constexpr std::size_t line = 128;
    DType dtype_;
    std::int64_t size_;
    std::size_t bytes_;
    Bytes memory_;
    unsigned char* data_;
};

/// One computation: its results' bytes, one after the other.
using Run = std::function<Bytes(const Surroundings&)>;

/// Leaves NaN in the scratch memory of each thread, as a step that overflowed does.
void fill_scratch(unsigned char value) {
    constexpr std::size_t bytes = std::size_t{1} << 18;
    cpu::parallel_for(cpu::threads(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t thread = begin; thread < end; ++thread)
            for (int kind = 0; kind < static_cast<int>(cpu::Scratch::count); ++kind)
                std::memset(cpu::scratch_bytes(static_cast<cpu::Scratch>(kind), bytes), value,
                            bytes);
    });
}

/// Result of a thread that has no cache of ours yet, nor scratch memory.
Bytes in_new_thread(const Run& run, const Surroundings& around) {
    Bytes result;
    const int threads = cpu::threads();
    std::thread([&] {
        cpu::set_threads(threads);
        result = run(around);
    }).join();
    return result;
}

Bytes without_primitive_cache(const Run& run) {
    int capacity = 0;
    dnnl_get_primitive_cache_capacity(&capacity);
    dnnl_set_primitive_cache_capacity(0);
    Bytes result = in_new_thread(run, {});
    dnnl_set_primitive_cache_capacity(capacity);
    return result;
}

void expect_same_bits(const std::string& what, std::size_t element, const Run& run) {
    const Bytes first = in_new_thread(run, {});
    ASSERT_EQ(run({}), first) << what << ": in another thread";
    ASSERT_EQ(run({}), first) << what << ": second call";
    ASSERT_EQ(without_primitive_cache(run), first) << what << ": without oneDNN's cache";
    fill_scratch(0xff);
    ASSERT_EQ(run({}), first) << what << ": with NaN in scratch memory";
    ASSERT_EQ(run({0, 0xff}), first) << what << ": with NaN around the operands";
    for (const std::size_t offset : {element, std::size_t{16}, std::size_t{32}, std::size_t{64}})
        ASSERT_EQ(run({offset, 0x3f}), first) << what << ": at an offset of " << offset;
}

void append(Bytes& all, const Placed& part) {
    const Bytes bytes = part.bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
}

struct ProductShape {
    std::int64_t m, n, k;
    bool a_transposed = false, b_transposed = false;
    double beta = 0;
    std::int64_t batch = 1;
};

Run product(DType in, DType out, const ProductShape& s) {
    const Buffer a = random_buffer(in, s.batch * s.m * s.k, 1),
                 b = random_buffer(in, s.batch * s.k * s.n, 2),
                 c = random_buffer(out, s.batch * s.m * s.n, 3);
    return [=](const Surroundings& around) {
        Placed x(a, around), w(b, around), y(c, around);
        cpu::gemm({y.data(), out, s.m, s.n, s.n},
                  {x.data(), in, s.m, s.k, s.a_transposed ? s.m : s.k, s.a_transposed},
                  {w.data(), in, s.k, s.n, s.b_transposed ? s.k : s.n, s.b_transposed},
                  {.batch = s.batch,
                   .stride_c = s.m * s.n,
                   .stride_a = s.m * s.k,
                   .stride_b = s.k * s.n,
                   .beta = s.beta},
                  {});
        return y.bytes();
    };
}

std::string to_string(DType dtype, const ProductShape& s) {
    std::string text = "dtype " + std::to_string(static_cast<int>(dtype));
    for (const std::int64_t v :
         {s.m, s.k, s.n, std::int64_t{s.a_transposed}, std::int64_t{s.b_transposed}, s.batch})
        text += " " + std::to_string(v);
    return text + (s.beta != 0 ? ", added" : "");
}

/// From small ones that our tiles compute to those whose b is packed, and those in pieces.
std::vector<ProductShape> product_shapes() {
    std::vector<ProductShape> shapes = {
        {1, 1, 1},
        {7, 5, 3},
        {31, 33, 32},
        {64, 64, 64},
        {65, 127, 63},
        {3, 1000, 77},
        {1000, 3, 77},
        {128, 256, 300},
        {33, 40, 64, false, false, 1},
        {16, 48, 80, false, false, 0, 5},
    };
    const std::size_t plain = shapes.size();
    for (std::size_t i = 0; i < plain; ++i)
        for (int form = 1; form < 4; ++form) {
            ProductShape shape = shapes[i];
            shape.a_transposed = form & 1;
            shape.b_transposed = form & 2;
            shapes.push_back(shape);
        }
    return shapes;
}

TEST(SameBits, OfProducts) {
    for (const DType dtype : floating)
        for (const ProductShape& shape : product_shapes())
            expect_same_bits(to_string(dtype, shape), size_of(dtype), product(dtype, dtype, shape));
}

TEST(SameBits, OfProductsOf16BitOperandsInF32) {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const ProductShape& shape : product_shapes())
            expect_same_bits(to_string(dtype, shape), size_of(DType::f32),
                             product(dtype, DType::f32, shape));
}

/// Sizes on both sides of those from which a b is packed before the product: 512 rows and 2^30
/// multiplications. What has fewer rows or a transposed b is never packed, so the sizes of its b
/// and its rows need only be those of several blocks.
TEST(SameBits, OfLargeProducts) {
    for (const DType dtype : {DType::f32, DType::bf16})
        for (ProductShape shape : {ProductShape{512, 520, 4101},
                                   {511, 130, 4101},
                                   {520, 200, 3700, false, true},
                                   {700, 200, 8001, false, false, 1},
                                   {512, 4100, 65, false, true}}) {
            // Below AVX-512 oneDNN computes no bf16. Our tiles do, in slow code, and never pack all
            // of b.
            if (dtype == DType::bf16 && !cpu::info().avx512f) shape.k = (shape.k + 7) / 8;
            expect_same_bits(to_string(dtype, shape), size_of(dtype), product(dtype, dtype, shape));
        }
}

/// A bias that the product adds, and its rows in c before the product.
TEST(SameBits, OfABiasAndOfItsRowsInC) {
    for (const DType dtype : floating)
        for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{40, 80, 4100}, {65, 1030, 300}}) {
            const Buffer a = random_buffer(dtype, m * k, 1), b = random_buffer(dtype, k * n, 2),
                         bias = random_buffer(dtype, n, 3);
            Buffer y(dtype, m * n), rows(dtype, m * n);
            for (std::int64_t i = 0; i < m; ++i)
                std::copy(bias.bytes().begin(), bias.bytes().end(),
                          rows.as<unsigned char>() + i * bias.bytes().size());
            const ConstMatrix x{a.view().data, dtype, m, k, k}, w{b.view().data, dtype, k, n, n};
            cpu::gemm({y.array().data, dtype, m, n, n}, x, w, {.bias = bias.view().data}, {});
            cpu::gemm({rows.array().data, dtype, m, n, n}, x, w, {.beta = 1}, {});
            EXPECT_TRUE(y.bytes() == rows.bytes()) << to_string(dtype, ProductShape{m, n, k});
        }
}

TEST(SameBits, OfAProductThatIsPackedForAmx) {
    if (!cpu::info().amx_bf16) GTEST_SKIP() << "this processor has no AMX";
    const ProductShape shape{4096, 4096, 2048};
    expect_same_bits(to_string(DType::bf16, shape), size_of(DType::bf16),
                     product(DType::bf16, DType::bf16, shape));
}

/// Any of the three convolutions: 0 forward, 1 data gradient, 2 weight gradient.
Run convolution(int direction, DType dtype, const Conv2dShape& s) {
    Buffer x = random_buffer(dtype, conv::input_size(s), 1),
           w = random_buffer(dtype, conv::weight_size(s), 2),
           y = random_buffer(dtype, conv::output_size(s), 3);
    return [=](const Surroundings& around) {
        Placed px(x, around), pw(w, around), py(y, around);
        const Array none{nullptr, dtype, 0};
        if (direction == 0) {
            cpu::conv2d_forward(py, px, pw, none, s, {});
            return py.bytes();
        }
        if (direction == 1) {
            cpu::conv2d_data_gradient(px, py, pw, s, {});
            return px.bytes();
        }
        cpu::conv2d_weight_gradient(pw, none, py, px, s, {});
        return pw.bytes();
    };
}

void expect_same_bits(DType dtype, const Conv2dShape& shape) {
    for (int direction = 0; direction < 3; ++direction)
        expect_same_bits(conv::to_string(dtype, shape) + ", direction " + std::to_string(direction),
                         size_of(dtype), convolution(direction, dtype, shape));
}

TEST(SameBits, OfConvolutions) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const Conv2dShape& shape : conv::many_shapes(40)) expect_same_bits(dtype, shape);
}

TEST(SameBits, OfConvolutionsOfResNet) {
    for (const DType dtype : {DType::f32, DType::bf16})
        for (const Conv2dShape& shape : {Conv2dShape{.n = 4,
                                        .c = 3,
                                        .h = 32,
                                        .w = 32,
                                        .k = 64,
                                        .r = 3,
                                        .s = 3,
                                        .pad_h = 1,
                                        .pad_w = 1},
                                         Conv2dShape{.n = 4,
                                         .c = 64,
                                         .h = 16,
                                         .w = 16,
                                         .k = 64,
                                         .r = 3,
                                         .s = 3,
                                         .pad_h = 1,
                                         .pad_w = 1},
                                         Conv2dShape{.n = 4,
                                         .c = 64,
                                         .h = 16,
                                         .w = 16,
                                         .k = 128,
                                         .r = 3,
                                         .s = 3,
                                         .stride_h = 2,
                                         .stride_w = 2,
                                         .pad_h = 1,
                                         .pad_w = 1},
                                         Conv2dShape{.n = 4,
                                         .c = 64,
                                         .h = 16,
                                         .w = 16,
                                         .k = 128,
                                         .r = 1,
                                         .s = 1,
                                         .stride_h = 2,
                                         .stride_w = 2},
                                         Conv2dShape{.n = 4,
                                         .c = 256,
                                         .h = 4,
                                         .w = 4,
                                         .k = 256,
                                         .r = 3,
                                         .s = 3,
                                         .pad_h = 1,
                                         .pad_w = 1}})
            expect_same_bits(dtype, shape);
}

/// Forward and backward of one attention; masks of dropout have their own tests.
Run attention(DType dtype, std::int64_t queries, std::int64_t keys, std::int64_t size,
              bool causal) {
    constexpr std::int64_t batch = 2, heads = 3;
    const auto dense = [](std::int64_t rows, std::int64_t cols) {
        return AttentionStrides{.batch = heads * rows * cols, .head = rows * cols, .row = cols};
    };
    Attention a{};
    a.dtype = dtype;
    a.batch = batch;
    a.heads = a.kv_heads = heads;
    a.queries = queries;
    a.keys = keys;
    a.qk_size = a.v_size = size;
    a.causal = causal;
    a.scale = 0.25f;
    a.q = a.y = dense(queries, size);
    a.k = a.v = dense(keys, size);
    a.dq = a.dy = a.q;
    a.dk = a.dv = a.k;
    const std::int64_t rows = batch * heads * queries * size, columns = batch * heads * keys * size;
    const Buffer q = random_buffer(dtype, rows, 1), k = random_buffer(dtype, columns, 2),
                 v = random_buffer(dtype, columns, 3), dy = random_buffer(dtype, rows, 4);
    return [=](const Surroundings& around) {
        Placed pq(q, around), pk(k, around), pv(v, around), pdy(dy, around);
        Placed y(q, around), dq(q, around), dk(k, around), dv(v, around);
        AttentionForwardData forward{};
        forward.q = pq.data(), forward.k = pk.data(), forward.v = pv.data(), forward.y = y.data();
        cpu::attention_forward(a, forward, {});
        AttentionBackwardData backward{};
        backward.q = pq.data(), backward.k = pk.data(), backward.v = pv.data();
        backward.y = y.data(), backward.dy = pdy.data();
        backward.dq = dq.data(), backward.dk = dk.data(), backward.dv = dv.data();
        cpu::attention_backward(a, backward, {});
        Bytes all;
        for (const Placed* part : {&y, &dq, &dk, &dv}) append(all, *part);
        return all;
    };
}

/// 190 rows make two blocks of queries, the second one smaller.
TEST(SameBits, OfAttention) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const bool causal : {false, true})
            for (const std::int64_t rows : {7, 64, 190})
                for (const std::int64_t size : {8, 33, 64})
                    expect_same_bits("attention, dtype " + std::to_string(static_cast<int>(dtype)) +
                                         " " + std::to_string(rows) + " " + std::to_string(size),
                                     size_of(dtype),
                                     attention(dtype, rows, rows + 1, size, causal));
}

std::uint64_t hash(const Bytes& bytes, std::uint64_t hash) {
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
    return hash;
}

/// Hash of all results that a process compares with another's.
std::uint64_t hash_of_results() {
    std::uint64_t all = 0xcbf29ce484222325u;
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        for (const ProductShape& shape : product_shapes())
            all = hash(product(dtype, dtype, shape)({}), all);
        for (const Conv2dShape& shape : conv::many_shapes(20))
            for (int direction = 0; direction < 3; ++direction)
                all = hash(convolution(direction, dtype, shape)({}), all);
        all = hash(attention(dtype, 40, 41, 32, true)({}), all);
    }
    return all;
}

constexpr const char* variable = "HALFTONE_TEST_PRINTS_HASH";

TEST(SameBits, InAnotherProcess) {
    const std::string text = std::to_string(hash_of_results());
    if (std::getenv(variable) != nullptr) {
        std::printf("hash %s\n", text.c_str());
        return;
    }
    char self[4096] = {};
    ASSERT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    const std::string command =
        std::string(variable) + "=1 '" + self + "' --gtest_filter=SameBits.InAnotherProcess";
    FILE* const output = popen(command.c_str(), "r");
    ASSERT_NE(output, nullptr);
    std::string found;
    for (char line[512]; std::fgets(line, sizeof line, output) != nullptr;)
        if (std::strncmp(line, "hash ", 5) == 0) found = line + 5;
    ASSERT_EQ(pclose(output), 0);
    EXPECT_EQ(found, text + "\n");
}

}  // namespace
}  // namespace kernels::test
