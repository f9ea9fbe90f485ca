#include "data/csv/csv_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "data/csv/csv_column_notes.h"
#include "data/csv/csv_text.h"
#include "engine/base/error.h"
#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

Message known_names(const CsvScan& scan, const std::string& wanted) {
    if (!scan.has_header) {
        return msg("The table has no header: give the number of a column, from 1 to {}.",
                   scan.columns.size());
    }
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    for (const auto& name : scan.names) names.push_back(shortened(name));
    if (names.size() <= most) return msg("The columns are: {}.", listed(names, most));
    names = by_likeness(shortened(wanted), std::move(names));
    names.resize(most);
    return msg("The nearest names are: {}.", listed(names, most));
}

std::size_t find_column(const CsvSource& source, const CsvScan& scan, const char* option,
                        const std::string& wanted) {
    const std::string_view name = trimmed(wanted);
    const auto found = std::find(scan.names.begin(), scan.names.end(), name);
    if (found != scan.names.end()) return static_cast<std::size_t>(found - scan.names.begin());
    const std::size_t number = to_number<std::size_t>(name).value_or(0);
    if (!scan.has_header && number >= 1 && number <= scan.names.size()) return number - 1;
    throw Error(ErrorCode::data,
                msg("{}: there is no column \"{}\", which dataset.{} names",
                    source.files.front().string(), shortened(wanted), option),
                known_names(scan, wanted));
}

/// "n.a. (12), oops (1)", with "…" for further ones.
std::string counted(const CsvTally& tally) {
    std::vector<std::string> items;
    for (const auto& [text, count] : tally.texts)
        items.push_back(text + " (" + std::to_string(count) + ")");
    if (tally.others > 0) items.emplace_back("…");
    return listed(items, CsvColumnNotes::max_named);
}

class ColumnPlanner {
public:
    ColumnPlanner(const CsvSource& source, const CsvScan& scan) : source_(source), scan_(scan) {}

    CsvLayout run() {
        assign_roles();
        assign_types();
        if (source_.options.missing == CsvMissing::refuse) refuse_missing();
        layout_.warnings = notes_.warnings();
        return std::move(layout_);
    }

private:
    std::string name(CsvPlace place) const { return source_.files[place.file].string(); }
    bool used(std::size_t column) const { return layout_.roles[column] != CsvRole::unused; }

    void assign_roles() {
        const CsvOptions& options = source_.options;
        const std::size_t count = scan_.columns.size();
        std::vector<bool> usable = without_empty();
        std::size_t last = count - 1;
        while (last > 0 && !usable[last]) --last;
        layout_.target = options.target.empty() ? last : find("target", options.target);
        if (options.columns.empty()) {
            leave_out_indices(usable);
            layout_.roles.assign(count, CsvRole::unused);
            for (std::size_t i = 0; i < count; ++i)
                if (usable[i]) layout_.roles[i] = CsvRole::feature;
        } else {
            layout_.roles.assign(count, CsvRole::unused);
            for (const auto& column : options.columns)
                layout_.roles[find("columns", column)] = CsvRole::feature;
        }
        for (const auto& column : options.without)
            layout_.roles[find("without", column)] = CsvRole::unused;
        layout_.roles[layout_.target] = CsvRole::target;
        const auto& roles = layout_.roles;
        if (std::find(roles.begin(), roles.end(), CsvRole::feature) != roles.end()) return;
        throw Error(ErrorCode::data,
                    msg("{}: dataset.columns and dataset.without leave no feature beside the "
                        "target {}",
                        source_.files.front().string(), scan_.shown(layout_.target)),
                    msg("List at least one other column, or none to use them all."));
    }

    /// Without columns that have neither a name nor a value: delimiters at the ends of the rows.
    std::vector<bool> without_empty() {
        std::vector<bool> usable(scan_.columns.size(), true);
        for (std::size_t i = 0; i < usable.size(); ++i) {
            const CsvColumnScan& column = scan_.columns[i];
            if (scan_.named[i] || column.present() + column.missing_words.count > 0) continue;
            usable[i] = false;
            notes_.empty.push_back(scan_.shown(i));
        }
        return usable;
    }

    /// Without unnamed columns that count the rows, unless nothing else would be left.
    void leave_out_indices(std::vector<bool>& usable) {
        const std::vector<bool> before = usable;
        for (std::size_t i = 0; i < usable.size(); ++i) {
            const bool unnamed = !scan_.named[i] || scan_.names[i].starts_with("Unnamed: ");
            // Without a header only the first column of a table can be an index.
            const bool index = scan_.counts_rows[i] && unnamed && (scan_.has_header || i == 0);
            if (!index || !usable[i] || i == layout_.target) continue;
            usable[i] = false;
            notes_.indices.push_back(scan_.shown(i));
        }
        std::size_t left = 0;
        for (std::size_t i = 0; i < usable.size(); ++i)
            left += usable[i] && i != layout_.target ? 1 : 0;
        if (left > 0) return;
        usable = before;
        notes_.indices.clear();
    }

    std::size_t find(const char* option, const std::string& wanted) const {
        return find_column(source_, scan_, option, wanted);
    }

    void assign_types() {
        std::vector<bool> listed_as_words(scan_.columns.size());
        for (const auto& column : source_.options.categorical)
            listed_as_words[find("categorical", column)] = true;
        for (std::size_t i = 0; i < scan_.columns.size(); ++i) {
            const bool target = i == layout_.target;
            CsvColumnForm form;
            // In the target and where listed, what usually stands for a missing value may be a
            // word.
            const bool words_stay =
                source_.options.missing_words.empty() && (target || listed_as_words[i]);
            if (listed_as_words[i] || (words_stay && has_only_missing_words(i)))
                form.categorical = true;
            else
                form = form_of(i);
            form.keeps_missing_words = form.categorical && words_stay;
            if (used(i)) refuse_empty(i, form);
            layout_.forms.push_back(std::move(form));
            if (used(i)) tell_of(i);
        }
    }

    bool has_only_missing_words(std::size_t i) const {
        const CsvColumnScan& column = scan_.columns[i];
        return column.present() == 0 && column.different_missing.texts.size() > 1;
    }

    /// Numbers of the most frequent writing.
    struct Writing {
        std::string unit;
        std::int64_t count = 0;
        std::size_t different = 0;  // units, with none as one of them
    };
    static Writing most_frequent(const CsvColumnScan& column) {
        Writing most;
        most.count = column.numbers - column.units.total();
        most.different = column.units.texts.size() + (most.count > 0 ? 1 : 0);
        if (column.units.others > 0) ++most.different;
        for (const auto& [unit, count] : column.units.texts) {
            if (count > most.count) most.unit = unit, most.count = count;
        }
        return most;
    }

    CsvColumnForm form_of(std::size_t i) {
        const CsvColumnScan& column = scan_.columns[i];
        const CsvColumnForm words{.categorical = true};
        if (column.present() == 0) return words;
        if (column.beyond_double.count > 0 && column.fractions == 0) {
            if (used(i))
                notes_.large.push_back(scan_.shown(i) + " (" + column.beyond_double.text + ")");
            return words;
        }
        if (used(i)) check_numbers(i);
        const Writing writing = most_frequent(column);
        const bool mixed = writing.different > 1;
        // Several units are a mixture, unless nearly all numbers have none.
        const bool plain = writing.unit.empty() && writing.count * 10 > column.present() * 9;
        const bool numeric = mixed ? plain : writing.count * 2 > column.present();
        if (numeric) {
            CsvColumnForm form{.unit = writing.unit, .commas = column.commas > 0};
            for (const auto& [word, count] : column.different_words.texts)
                form.other_missing.push_back(word);
            return form;
        }
        if (used(i) && mixed && column.numbers * 2 > column.present())
            notes_.mixtures.push_back(scan_.shown(i) + " (" + units_of(column, writing) + ")");
        return words;
    }

    static std::string units_of(const CsvColumnScan& column, const Writing& writing) {
        std::vector<std::string> units;
        for (const auto& [unit, count] : column.units.texts) units.push_back(unit);
        if (writing.different > column.units.texts.size()) units.emplace_back("…");
        return listed(units, CsvColumnNotes::max_named);
    }

    /// Numbers that are certainly meant as such but cannot be read.
    void check_numbers(std::size_t i) const {
        const CsvColumnScan& column = scan_.columns[i];
        if (column.words.count == 0 && column.out_of_range.count > 0) refuse_out_of_range(i);
        const bool several =
            (column.decimal_commas.count + column.ambiguous_commas.count) * 2 > column.present();
        if (column.decimal_commas.count > 0 && (column.words.count == 0 || several))
            refuse_decimal_comma(i, column.decimal_commas);
        // A table whose columns a semicolon separates comes from where a comma is the decimal one.
        if (scan_.delimiter == ';' && column.ambiguous_commas.count > 0 &&
            column.ambiguous_commas.count == column.commas)
            refuse_decimal_comma(i, column.ambiguous_commas);
    }

    /// Cells of a numeric column that are no numbers of its form.
    std::int64_t rest_of(std::size_t i) const {
        const CsvColumnScan& column = scan_.columns[i];
        if (layout_.forms[i].categorical) return 0;
        const Writing writing = most_frequent(column);
        const std::int64_t others = writing.unit.empty() ? column.numbers - writing.count : 0;
        return column.present() - column.numbers + others;
    }

    /// Notes what may surprise in how a column in use is read; refuses what a numeric column holds
    /// beside its numbers where missing values are refused.
    void tell_of(std::size_t i) {
        const CsvColumnScan& column = scan_.columns[i];
        const CsvColumnForm& form = layout_.forms[i];
        const std::string shown = scan_.shown(i);
        if (form.categorical) {
            if (column.missing_words.count > 0 && source_.options.missing_words.empty())
                (form.keeps_missing_words ? notes_.kept_words : notes_.missing_words)
                    .push_back(shown + ": " + counted(column.different_missing));
            constexpr std::size_t few = 8;  // words that are rather codes
            const bool many =
                column.different_words.texts.size() == few && column.different_words.others > 0;
            if (many && column.digit_words * 10 > column.present() * 9)
                notes_.like_numbers.push_back(shown + " (" + column.words.text + ")");
            return;
        }
        if (const std::int64_t rest = rest_of(i); rest > 0) {
            if (source_.options.missing == CsvMissing::refuse) refuse_rest(i);
            notes_.rest.push_back(shown + ": " + std::to_string(rest) + " (" +
                                  counted(column.different_words) + ")");
        }
        // Where only single numbers have a unit, the first one that is not plain may be such a one.
        if (column.written.count > 0 && (!form.unit.empty() || column.units.total() == 0)) {
            const std::string& number = column.written.text;
            notes_.written.push_back(shown + " (" + number + " → " +
                                     shortest_text(parse_csv_value(number).number) + ")");
        }
    }

    void refuse_empty(std::size_t i, const CsvColumnForm& form) const {
        const CsvColumnScan& column = scan_.columns[i];
        if (column.present() > 0 || (form.keeps_missing_words && column.missing_words.count > 0))
            return;
        throw Error(ErrorCode::data,
                    msg("{}: every value of column {} is missing", source_.files.front().string(),
                        scan_.shown(i)),
                    i == layout_.target ? msg("Set dataset.target to another column.")
                                        : msg("Leave the column out with dataset.without."));
    }

    /// The first value of a numeric column that is no number of its form.
    const CsvFinding& first_of_rest(std::size_t i) const {
        const CsvColumnScan& column = scan_.columns[i];
        const CsvFinding* first = &column.words;
        for (const CsvFinding* other :
             {&column.decimal_commas, &column.out_of_range, &column.written}) {
            const bool counts = other != &column.written || column.units.total() > 0;
            if (other->count > 0 && counts && (first->count == 0 || other->first < first->first))
                first = other;
        }
        return *first;
    }

    [[noreturn]] void refuse_rest(std::size_t i) const {
        const CsvFinding& odd = first_of_rest(i);
        throw Error(
            ErrorCode::data,
            msg("{}, line {}, column {}: \"{}\" among numbers", name(odd.first), odd.first.line,
                scan_.shown(i), odd.text),
            odd.first.line == 1 && !scan_.has_header
                ? msg("Set dataset.header to true if the first row holds the names of the "
                      "columns.")
                : msg("Correct the value; or set dataset.missing to \"drop\" or \"mean\" if "
                      "it stands for a missing one; or list the column in "
                      "dataset.categorical to treat its values as words."));
    }

    [[noreturn]] void refuse_out_of_range(std::size_t i) const {
        const CsvFinding& found = scan_.columns[i].out_of_range;
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: {} is infinite or too large for a 32-bit float",
                        name(found.first), found.first.line, scan_.shown(i), found.text),
                    msg("Correct the value, or leave it empty to mark it as missing."));
    }

    [[noreturn]] void refuse_decimal_comma(std::size_t i, const CsvFinding& found) const {
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: \"{}\" is a number with a comma",
                        name(found.first), found.first.line, scan_.shown(i), found.text),
                    msg("Write numbers with a decimal point and without thousands separators, or "
                        "list the column in dataset.categorical."));
    }

    /// The first missing value of a column, and how many there are.
    CsvFinding missing_of(std::size_t i) const {
        const CsvColumnScan& column = scan_.columns[i];
        CsvFinding found = column.empty;
        if (layout_.forms[i].keeps_missing_words || column.missing_words.count == 0) return found;
        if (found.count == 0 || column.missing_words.first < found.first)
            found = column.missing_words;
        found.count = column.missing();
        return found;
    }

    void refuse_missing() const {
        std::optional<std::size_t> earliest;
        CsvFinding missing;
        for (std::size_t i = 0; i < scan_.columns.size(); ++i) {
            const CsvFinding found = missing_of(i);
            if (!used(i) || found.count == 0) continue;
            if (earliest && !(found.first < missing.first)) continue;
            earliest = i;
            missing = found;
        }
        if (!earliest) return;
        const bool word = !missing.text.empty() && layout_.forms[*earliest].categorical;
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: the value is missing, as in {} of {} rows",
                        name(missing.first), missing.first.line, scan_.shown(*earliest),
                        missing.count, scan_.rows),
                    word ? msg("Set dataset.missing to \"drop\" to leave such rows out, or to "
                               "\"mean\" to fill the gaps; or list the column in "
                               "dataset.categorical if {} is a category.",
                               missing.text)
                         : msg("Set dataset.missing to \"drop\" to leave such rows out, or to "
                               "\"mean\" to fill the gaps."));
    }

    const CsvSource& source_;
    const CsvScan& scan_;
    CsvLayout layout_;
    CsvColumnNotes notes_;
};

}  // namespace

CsvValue CsvColumnForm::read(CsvValue value, std::string_view field) const {
    if (value.content == CsvContent::missing) {
        if (keeps_missing_words && !trimmed(field).empty()) value.content = CsvContent::word;
        return value;
    }
    if (categorical) {
        value.content = CsvContent::word;
    } else if (value.content == CsvContent::number &&
               ((!value.unit.empty() && value.unit != unit) || (value.commas && !commas))) {
        value.content = CsvContent::word;
    }
    return value;
}

CsvLayout plan_csv_columns(const CsvSource& source, const CsvScan& scan) {
    return ColumnPlanner(source, scan).run();
}

}  // namespace engine
