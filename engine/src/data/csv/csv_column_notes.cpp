#include "data/csv/csv_column_notes.h"

#include "data/csv/csv_text.h"

namespace engine {

std::vector<Message> CsvColumnNotes::warnings() const {
    std::vector<Message> out;
    const auto add = [&out](const Columns& columns, const auto& message) {
        if (!columns.empty()) out.push_back(message(listed(columns, max_named)));
    };
    add(empty, [](const auto& list) {
        return msg("columns without a name and a value are left out: {}", list);
    });
    add(indices, [](const auto& list) {
        return msg(
            "columns without a name that count the rows are left out: {}; list them in "
            "dataset.columns to use them",
            list);
    });
    add(written, [](const auto& list) {
        return msg(
            "numbers with a unit, a currency, separators or another minus sign are read "
            "as plain numbers: {}",
            list);
    });
    add(mixtures, [](const auto& list) {
        return msg(
            "numbers with different units are read as words: {}; write one unit, or "
            "leave the column out with dataset.without",
            list);
    });
    add(rest, [](const auto& list) {
        return msg(
            "values among numbers that are no numbers count as missing: {}; list a "
            "column in dataset.categorical to read it as words",
            list);
    });
    add(large, [](const auto& list) {
        return msg(
            "whole numbers beyond 2^53 are read as words: {}; leave identifiers out "
            "with dataset.without",
            list);
    });
    add(kept_words, [](const auto& list) {
        return msg(
            "words that often stand for a missing value are read as categories: {}; to "
            "count them as missing, list them in dataset.missing_words",
            list);
    });
    add(missing_words, [](const auto& list) {
        return msg(
            "words count as missing values: {}; list a column in dataset.categorical if "
            "they are categories there",
            list);
    });
    add(like_numbers, [](const auto& list) {
        return msg(
            "words that look like numbers or dates are read as words, a feature each: "
            "{}; leave a column out with dataset.without",
            list);
    });
    return out;
}

}  // namespace engine
