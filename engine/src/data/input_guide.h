#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/schema.h"
#include "engine/io/picture.h"

namespace engine {

struct CsvValue;

/// How the cells of a column are read.
struct CsvColumnForm {
    bool categorical = false;                  ///< otherwise numeric
    bool keeps_missing_words = false;          ///< NA and its like are categories
    std::string unit{};                        ///< beside each number
    bool commas = false;                       ///< between groups of digits
    std::vector<std::string> other_missing{};  ///< words among its numbers, at most eight

    /// `value`, which parse_csv_value() made of `field`, in this column: a word of a categorical
    /// column, a number of a numeric one, or missing. A text that is no number of this form stays
    /// as it is.
    CsvValue read(CsvValue value, std::string_view field) const;

    bool operator==(const CsvColumnForm&) const = default;
};

/// A column of a table that a person fills in.
struct GuideColumn {
    /// How its cells name a row of an embedding table, if they do.
    enum class Id { none, decimal, criteo };

    std::string name;
    std::vector<std::string> categories{};  ///< empty: a number
    std::size_t offset = 0;                 ///< of its first feature, or its place among the ids
    Id id = Id::none;
    bool counted = false;                ///< a count, whose feature is log(1 + count)
    std::optional<std::size_t> place{};  ///< among the columns of the training table
    CsvColumnForm form{};                ///< how the cells of a number are read
    /// Value of the training rows for a field that is not given: their mean, or the most frequent
    /// category.
    std::optional<double> usual_number{};
    std::string usual_category{};

    std::size_t width() const { return categories.empty() ? 1 : categories.size(); }
};
template <>
inline constexpr std::array enum_names<GuideColumn::Id> = {"no", "decimal", "criteo"};

/// Everything needed to make inputs for a trained model without its data set. A run keeps it as
/// inputs.json.
struct InputGuide {
    Schema schema;                          ///< of the data set, without transforms
    std::vector<GuideColumn> columns{};     ///< of a table
    std::size_t table_columns = 0;          ///< of the training table, with its target; 0: unknown
    std::size_t target_place = 0;           ///< among them
    bool header = true;                     ///< the training table names its columns
    std::vector<std::string> vocabulary{};  ///< of a text, by token id
    bool words = false;                     ///< its tokens are words, else characters
    /// The tokenizer.json that cuts a text into tokens of the vocabulary, which the run keeps; "":
    /// it is cut into words or characters.
    std::string tokenizer{};
    bool framed_lines = false;  ///< each line has the tokenizer's special tokens around it
    /// For a picture: the length to which its shorter side is scaled before the centre is taken. 0:
    /// it is scaled until it covers the input.
    int short_side = 0;
    /// For a picture of any size: the limit for its longer side, as the shorter one becomes
    /// `short_side`. 0: pictures have one size.
    int long_side = 0;
    Alpha alpha = Alpha::over_white;  ///< of a picture
};

void write_input_guide(const std::filesystem::path& run_folder, const InputGuide& guide);
/// Throws Error(data) if the run has none, it is damaged, or the run's copy of its tokenizer is
/// another file than the run read.
InputGuide read_input_guide(const std::filesystem::path& run_folder);
/// Where a run keeps its tokenizer, if it has one.
std::filesystem::path kept_tokenizer(const std::filesystem::path& run_folder);

}  // namespace engine
