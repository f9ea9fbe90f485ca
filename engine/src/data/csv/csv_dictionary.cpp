#include "data/csv/csv_dictionary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

namespace engine {
namespace {

std::string written(double number) {
    std::array<char, 64> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}
std::string written(const std::string& word) { return word; }

template <typename Map>
CsvDictionary::Sorted sort_keys(const Map& numbers) {
    std::vector<std::pair<typename Map::key_type, std::size_t>> items(numbers.begin(),
                                                                      numbers.end());
    std::sort(items.begin(), items.end());
    CsvDictionary::Sorted sorted;
    sorted.places.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        sorted.words.push_back(written(items[i].first));
        sorted.places[items[i].second] = i;
    }
    return sorted;
}

}  // namespace

std::size_t CsvDictionary::add(std::string_view word) {
    if (const auto found = numbers_.find(word); found != numbers_.end()) return found->second;
    return numbers_.emplace(word, numbers_.size()).first->second;
}

CsvDictionary::Sorted CsvDictionary::sorted() const { return sort_keys(numbers_); }

std::size_t CsvWholeNumbers::add(double number) {
    // Adding zero turns -0 into 0, which would be written differently.
    return numbers_.emplace(number + 0.0, numbers_.size()).first->second;
}

CsvDictionary::Sorted CsvWholeNumbers::sorted() const { return sort_keys(numbers_); }

}  // namespace engine
