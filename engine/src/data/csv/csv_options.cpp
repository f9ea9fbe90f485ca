#include "data/csv/csv_options.h"

namespace engine {
namespace {

std::vector<OptionSpec> make_specs() {
    const std::vector<std::string> none;
    return {
        {.name = "target",
         .label = "Target",
         .default_value = std::string(),
         .help = "Column to predict: its name, or its number from 1 if the file has no header. "
                 "Empty: the last column.",
         .prominent = true},
        {.name = "columns",
         .label = "Feature columns",
         .default_value = none,
         .help = "Columns used as features. Empty: all columns except the target."},
        {.name = "without",
         .label = "Columns left out",
         .default_value = none,
         .help = "Columns that are not used as features, for instance identifiers."},
        {.name = "delimiter",
         .label = "Delimiter",
         .default_value = std::string("auto"),
         .help = "Character between the fields of a row.",
         .choices = {{"auto", "Automatic"},
                     {"comma", "Comma"},
                     {"semicolon", "Semicolon"},
                     {"tab", "Tab"},
                     {"pipe", "Pipe"},
                     {"space", "Blanks", "Spaces or tabs, one or several."}}},
        {.name = "header",
         .label = "Header row",
         .default_value = std::string("auto"),
         .help = "Whether the first row holds the column names. Automatic: where it holds words "
                 "above numbers, counts the columns (0, 1, 2, ... or 1, 2, 3, ...), or holds years "
                 "at equal distances above numbers of another scale.",
         .choices = {{"auto", "Automatic"}, {"true", "Yes"}, {"false", "No"}}},
        {.name = "categorical",
         .label = "Categorical columns",
         .default_value = none,
         .help = "Columns to treat as categories although their values are numbers, for instance "
                 "postcodes, or stand for missing ones, for instance None."},
        {.name = "missing",
         .label = "Missing values",
         .default_value = std::string("refuse"),
         .help = "What to do about missing values: empty fields, the words below, and among "
                 "numbers all other words.",
         .choices = {{"refuse", "Report an error"},
                     {"drop", "Drop the row"},
                     {"mean", "Impute",
                      "The training mean of a numeric column, the most frequent category of a "
                      "categorical one."}},
         .prominent = true},
        {.name = "missing_words",
         .label = "Words for missing",
         .default_value = none,
         .help =
             "Words that stand for a missing value. Empty: NA, N/A, NaN, nan, null, NULL, None, "
             "? and -, but not among the classes of the target and in categorical columns."},
        {.name = "standardize",
         .label = "Standardize features",
         .default_value = true,
         .help = "Scales numeric features to mean 0 and standard deviation 1 over the training "
                 "rows."},
        {.name = "test_share",
         .label = "Test share",
         .default_value = 0.2,
         .help = "Fraction of the rows held out as the test set, drawn by the seed.",
         .lowest = 0,
         .highest = 1,
         .below_highest = true},
    };
}

}  // namespace

std::span<const OptionSpec> csv_option_specs() {
    static const std::vector<OptionSpec> specs = make_specs();
    return specs;
}

CsvOptions read_csv_options(const DatasetConfig& config) {
    const TypedOptions options(config.options, csv_option_specs());
    return {.target = options.word("target"),
            .columns = options.words("columns"),
            .delimiter = "\0,;\t| "[options.choice("delimiter")],
            .header = static_cast<CsvHeader>(options.choice("header")),
            .categorical = options.words("categorical"),
            .missing = static_cast<CsvMissing>(options.choice("missing")),
            .missing_words = options.words("missing_words"),
            .without = options.words("without"),
            .standardize = options.flag("standardize"),
            .test_share = options.number("test_share")};
}

}  // namespace engine
