#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

/// The different words of a column, numbered by first appearance.
class CsvDictionary {
public:
    /// The number of a word, a new one if it was not there.
    std::size_t add(std::string_view word);
    std::size_t size() const { return numbers_.size(); }

    struct Sorted {
        std::vector<std::string> words;   ///< by bytes, so that the order of rows does not matter
        std::vector<std::size_t> places;  ///< in `words`, by number
    };
    Sorted sorted() const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> numbers_;
};

/// The different whole numbers of a column, numbered by first appearance.
class CsvWholeNumbers {
public:
    std::size_t add(double number);
    std::size_t size() const { return numbers_.size(); }
    /// In ascending order, written without a decimal point.
    CsvDictionary::Sorted sorted() const;

private:
    std::unordered_map<double, std::size_t> numbers_;
};

}  // namespace engine
