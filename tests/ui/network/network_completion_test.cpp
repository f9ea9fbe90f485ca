#include "network/network_completion.h"

#include <gtest/gtest.h>

#include <QSet>

#include "engine/network/network.h"

namespace ui {
namespace {

/// The words that fit at the mark "|".
NetworkWords at(QString text) {
    const auto mark = text.indexOf(u'|');
    text.remove(mark, 1);
    const QString before = text.left(mark);
    const auto network = engine::check_network(text.toStdString(), engine::usual_network_data(text.toStdString()));
    return networkWords(text, networkLines(text), network.options, static_cast<int>(before.count(u'\n')),
                        static_cast<int>(mark - before.lastIndexOf(u'\n') - 1));
}

QStringList inserts(const QString& text) {
    QStringList out;
    for (const auto& word : at(text).words) out << word.insert;
    return out;
}

const QString head = u"option width = 16 in 4..512\nblock Conv(out, stride=1):\n  conv: Conv2d(out, 3)\n  ReLU\nnetwork(image):\n"_s;

TEST(NetworkCompletion, KindsAndBlocksFitWhereALayerStands) {
    const QStringList kinds = inserts(head + u"  stem: Conv|"_s);
    EXPECT_TRUE(kinds.contains(u"Conv2d"_s));
    EXPECT_TRUE(kinds.contains(u"ConvTranspose2d"_s));
    EXPECT_FALSE(kinds.contains(u"Conv"_s));  // what stands there already
    EXPECT_FALSE(kinds.contains(u"Linear"_s));
    EXPECT_TRUE(inserts(head + u"  Co|"_s).contains(u"Conv"_s));
    EXPECT_TRUE(inserts(head + u"  x = Co|"_s).contains(u"Conv"_s));
    EXPECT_TRUE(inserts(u"op|"_s).contains(u"option"_s));
}

TEST(NetworkCompletion, ArgumentsFitWithinBracketsOnce) {
    const NetworkWords words = at(head + u"  Conv2d(8, 3, padding=1, |"_s);
    EXPECT_TRUE(words.title.startsWith(u"Conv2d("_s));
    const QStringList names = inserts(head + u"  Conv2d(8, 3, padding=1, |"_s);
    EXPECT_TRUE(names.contains(u"stride="_s));
    EXPECT_TRUE(names.contains(u"init="_s));
    EXPECT_FALSE(names.contains(u"padding="_s));
    EXPECT_TRUE(names.contains(u"width"_s));
    EXPECT_TRUE(inserts(head + u"  Conv(8, st|"_s).contains(u"stride="_s));
    EXPECT_FALSE(inserts(head + u"  Conv(8, |"_s).contains(u"out="_s));
    EXPECT_FALSE(inserts(head + u"  LeakyReLU(|"_s).contains(u"init="_s));
}

TEST(NetworkCompletion, AnArgumentSaysItsDefaultAndWhatItMeans) {
    const auto note = [](const QString& argument) {
        for (const auto& word : at(head + u"  Conv2d(8, 3, |"_s).words)
            if (word.insert == argument + u'=') return word.note;
        return QString();
    };
    EXPECT_EQ(note(u"stride"_s), u"default 1 · Stride of the kernel."_s);
    EXPECT_TRUE(note(u"padding_mode"_s).contains(u"reflect"_s));
}

TEST(NetworkCompletion, ValuesFitBehindFrom) {
    const QString body = head + u"  a: Conv(8)\n  b: Conv(8)\n"_s;
    const QStringList values = inserts(body + u"  Add from |"_s);
    EXPECT_EQ(QSet<QString>(values.begin(), values.end()), (QSet<QString>{u"in"_s, u"above"_s, u"a"_s, u"b"_s, u"image"_s}));
    EXPECT_TRUE(inserts(body + u"  Add from a, |"_s).contains(u"b"_s));
}

TEST(NetworkCompletion, NamesInScopeFitInExpressions) {
    const QStringList inside = inserts(u"option width = 16\nblock Conv(out, stride=1):\n  Conv2d(|\nnetwork(image):\n  ReLU\n"_s);
    EXPECT_TRUE(inside.contains(u"out"_s));
    EXPECT_TRUE(inside.contains(u"stride"_s) || inside.contains(u"stride="_s));
    const QStringList repeated = inserts(head + u"  let half = 8\n  repeat n in [1, 2] as i:\n    Conv2d(|"_s);
    for (const QString& name : {u"n"_s, u"i"_s, u"half"_s, u"width"_s, u"outputs"_s}) EXPECT_TRUE(repeated.contains(name)) << name.toStdString();
    EXPECT_FALSE(repeated.contains(u"out"_s));
}

TEST(NetworkCompletion, NothingFitsInACommentOrAString) {
    EXPECT_TRUE(inserts(head + u"  # Co|"_s).isEmpty());
    EXPECT_TRUE(inserts(u"option width = 16 \"Co|"_s).isEmpty());
}

}  // namespace
}  // namespace ui
