#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine::network {

/// Sizes, counts and whole numbers of a text stay below this.
inline constexpr std::int64_t size_limit = std::int64_t{1} << 62;

/// A size of a tensor: a number, or a symbol whose number is not known before training.
struct Size {
    enum class Symbol : std::uint8_t {
        none,
        batch,  ///< N: samples
        window  ///< T: tokens of a text, at most `bptt`
    };
    std::int64_t number = 0;  ///< 0 of a symbol
    Symbol symbol = Symbol::none;

    bool is_number() const { return symbol == Symbol::none; }
    friend bool operator==(const Size&, const Size&) = default;
};

inline constexpr Size batch_size{0, Size::Symbol::batch};
inline constexpr Size window_size{0, Size::Symbol::window};

using Sizes = std::vector<Size>;

/// Shape and kind of a value in the graph.
struct TensorType {
    Sizes sizes{};
    bool whole = false;  ///< holds whole numbers: tokens or rows of a table
    /// The number that those of each column stay below; one entry for all columns of tokens.
    std::vector<std::int64_t> counts{};

    int rank() const { return static_cast<int>(sizes.size()); }
};

inline std::string to_string(const Size& size) {
    if (size.symbol == Size::Symbol::batch) return "N";
    if (size.symbol == Size::Symbol::window) return "T";
    return std::to_string(size.number);
}

/// "N x 64 x 7 x 7"; "()" without dimensions.
inline std::string to_string(const Sizes& sizes) {
    std::string text;
    for (const Size& size : sizes) text += (text.empty() ? "" : " x ") + to_string(size);
    return text.empty() ? "()" : text;
}

}  // namespace engine::network
