#include "data/csv/csv_options.h"

namespace engine {
namespace {

std::vector<OptionSpec> make_specs() {
    const std::vector<std::string> none;
    return {
        option("target", "Target", std::string(),
               "Column to predict: its name, or its number from 1 if the file has no header. "
               "Empty: the last column.",
               opt::prominent),
        option("columns", "Feature columns", none,
               "Columns used as features. Empty: all columns except the target."),
        option("without", "Columns left out", none,
               "Columns that are not used as features, for instance identifiers."),
        option("delimiter", "Delimiter", std::string("auto"),
               "Character between the fields of a row.",
               opt::one_of({{"auto", "Automatic"},
                            {"comma", "Comma"},
                            {"semicolon", "Semicolon"},
                            {"tab", "Tab"},
                            {"pipe", "Pipe"},
                            {"space", "Blanks", "Spaces or tabs, one or several."}})),
        option("header", "Header row", std::string("auto"),
               "Whether the first row holds the column names. Automatic: where it holds words "
               "above numbers, counts the columns (0, 1, 2, ... or 1, 2, 3, ...), or holds years "
               "at equal distances above numbers of another scale.",
               opt::one_of({{"auto", "Automatic"}, {"true", "Yes"}, {"false", "No"}})),
        option("categorical", "Categorical columns", none,
               "Columns to treat as categories although their values are numbers, for instance "
               "postcodes, or stand for missing ones, for instance None."),
        option(
            "missing", "Missing values", std::string("refuse"),
            "What to do about missing values: empty fields, the words below, and among numbers "
            "all other words.",
            opt::one_of({{"refuse", "Report an error"},
                         {"drop", "Drop the row"},
                         {"mean", "Impute",
                          "The training mean of a numeric column, the most frequent category of a "
                          "categorical one."}}),
            opt::prominent),
        option("missing_words", "Words for missing", none,
               "Words that stand for a missing value. Empty: NA, N/A, NaN, nan, null, NULL, None, "
               "? and -, but not among the classes of the target and in categorical columns."),
        option(
            "standardize", "Standardize features", true,
            "Scales numeric features to mean 0 and standard deviation 1 over the training rows."),
        option("test_share", "Test share", 0.2,
               "Fraction of the rows held out as the test set, drawn by the seed.",
               opt::from_to_below(0, 1)),
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
