#include "runs/filter_field.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/base/error.h"
#include "engine/runs/run_query.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(FilterNames, CallEachFieldByATitleOfItsOwn) {
    const auto fields = engine::run_fields();
    std::set<QString> titles;
    for (const FilterName& each : filterNames(fields)) {
        EXPECT_TRUE(titles.insert(each.title.toLower()).second) << each.title.toStdString();
        const QString filter = quotedTitle(each.title) + u"=x"_s;
        EXPECT_EQ(filterWithKeys(filter, filterNames(fields)), each.key + u"=x"_s);
    }
    EXPECT_TRUE(titles.contains(u"learning rate"_s));
}

TEST(FilterNames, StandInFilters) {
    const auto names = filterNames(engine::run_fields());
    const auto keys = [&](const QString& filter) { return filterWithKeys(filter, names); };
    EXPECT_EQ(keys(u"\"Learning rate\">0.01 tag:a"_s), u"optimizer.lr>0.01 tag:a"_s);
    EXPECT_EQ(keys(u"-\"learning rate\"!=0.1"_s), u"-optimizer.lr!=0.1"_s);
    EXPECT_EQ(keys(u"Seed=3  lr>0.1"_s), u"seed=3  lr>0.1"_s);
    EXPECT_EQ(keys(u"notes~\"Learning rate=\""_s), u"notes~\"Learning rate=\""_s) << "a value";
    EXPECT_EQ(keys(u"\"Learning rate\""_s), u"\"Learning rate\""_s) << "words to look for";
    EXPECT_EQ(keys(u"\"open"_s), u"\"open"_s);
    EXPECT_EQ(keys(u""_s), u""_s);
}

TEST(FilterNames, StandInWhatIsWrongWithAFilter) {
    const auto fields = engine::run_fields();
    const auto names = filterNames(fields);
    const auto problem = [&](const QString& filter) {
        try {
            engine::RunQuery(filterWithKeys(filter, names).toStdString(), fields);
        } catch (const engine::Error& error) {
            return messageWithTitles(error.message(), names).str() + ". " +
                   messageWithTitles(error.hint(), names).str();
        }
        return std::string("none");
    };
    EXPECT_EQ(problem(u"\"Learning rate\">fast"_s),
              "\"Learning rate\">fast: \"Learning rate\" is a number. Write a number right behind "
              "the operator.");
    EXPECT_EQ(problem(u"starred=maybe"_s).find("starred="), std::string::npos)
        << problem(u"starred=maybe"_s);
    EXPECT_EQ(problem(u"lt>0.1"_s),
              "lt: there is no such setting or result. Did you mean \"Learning rate\"?");
    EXPECT_EQ(problem(u"a b"_s), "none");
}

}  // namespace
}  // namespace ui
