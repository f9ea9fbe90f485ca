#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kernels::simt {

/// Device memory, accessible only while an Access lives. Fresh blocks are filled with 0xff, NaN in
/// every floating type.
class Heap {
public:
    Heap();
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    void* take(std::size_t bytes);
    void give(void* data);
    std::int64_t bytes() const { return bytes_; }
    bool holds(const void* data) const;
    void open();
    void close();

private:
    std::byte* end() const;
    void fill_fresh();

    std::byte* reserve_ = nullptr;
    std::size_t used_ = 0;
    std::vector<std::pair<void*, std::size_t>> fresh_;  ///< not filled yet
    std::map<void*, std::size_t> blocks_;
    std::multimap<std::size_t, void*> free_;
    std::int64_t bytes_ = 0;
    int open_ = 0;
};

class Access {
public:
    explicit Access(Heap& heap) : heap_(heap) { heap_.open(); }
    ~Access() { heap_.close(); }
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

private:
    Heap& heap_;
};

}  // namespace kernels::simt
