
#include <QFormLayout>
#include <QRegularExpression>

#include "plots/plot_link.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct StepPanelTest : WindowFixture {
    /// The figure behind a name in the table of the selected step.
    QString figure(const QString& name) const {
        for (const auto* label : panelBody(u"step"_s)->findChildren<QLabel*>())
            if (label->accessibleName() == name) return label->text();
        return {};
    }
};

TEST_F(StepPanelTest, EachTimeHasItsUnitAndTheStepItsTimeOfDay) {
    ASSERT_NO_FATAL_FAILURE(trainShortly());
    link.select(3, feed.tracks().front());
    const QString time = figure(u"time"_s);
    const QStringList parts = time.split(QRegularExpression(u"[:,]"_s));
    ASSERT_EQ(parts.size(), 5) << time.toStdString();
    for (const QString& part : parts)
        EXPECT_TRUE(part.endsWith(u"ms"_s) || part.endsWith(u" s"_s)) << time.toStdString();
    EXPECT_TRUE(figure(u"GPU load"_s).isEmpty()) << "a run on the CPU has none";
    // With its date if the day has changed since.
    const QRegularExpression clock(u"^(\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d:\\d\\d$"_s);
    EXPECT_TRUE(clock.match(figure(u"ended at"_s)).hasMatch()) << figure(u"ended at"_s).toStdString();
}

}  // namespace
}  // namespace ui
