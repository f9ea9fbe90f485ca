#include "help/help_page.h"

#include <QCoreApplication>
#include <QScreen>

#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "text/language.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

struct HelpPage {
    Q_DECLARE_TR_FUNCTIONS(HelpPage)
};

/// The effect of each of a field's values, if it is not obvious.
QString choiceList(const engine::FieldInfo& info) {
    QString items;
    for (const auto& choice : info.choices) {
        if (choice.summary.empty()) continue;
        items += u"<li><b>%1</b>: %2</li>"_s.arg(engineText(choice.title).toHtmlEscaped(),
                                                 engineText(choice.summary).toHtmlEscaped());
    }
    return items.isEmpty() ? items : u"<ul style='margin-left:-24px'>%1</ul>"_s.arg(items);
}

/// The background of a field; empty if the field needs none.
QString ideaOf(const QString& path) {
    if (path.startsWith(u"precision"_s)) return formatsIdea();
    if (path.startsWith(u"scaler"_s)) return scalingIdea();
    if (path.startsWith(u"optimizer"_s)) {
        return HelpPage::tr(
            "The schedule counts applied updates: a skipped step does not advance it.");
    }
    return {};
}

}  // namespace

QString formatsIdea() {
    return HelpPage::tr(
        "FP16 has 5 exponent bits and 10 fraction bits. It rounds magnitudes up to 2⁻²⁵ to 0 and "
        "magnitudes from 65,520 on to infinity; its largest finite number is 65,504. Below 2⁻¹⁴ "
        "numbers are subnormal, with fewer and fewer digits, down to 2⁻²⁴. BF16 has the 8 exponent "
        "bits of FP32 and only 7 fraction bits. AMP keeps the weights in FP32 and computes matrix "
        "products and convolutions in 16 bits.");
}

QString scalingIdea() {
    return HelpPage::tr(
        "Small gradients would underflow to 0 in FP16. The loss is therefore multiplied by a scale "
        "before the backward pass, and the gradients are divided by it afterwards. If a gradient "
        "overflows, the step is skipped and the scale backs off. After a growth interval without "
        "overflow the scale grows. An occasional skipped step is healthy.");
}

QString helpPage(const SettingsModel& settings, const QString& path) {
    QString page;
    const QString defaultText = settings.defaultText(path);
    const auto info = settings.field(path);
    if (info != nullptr) {
        page = u"<p><b>%1</b></p><p>%2</p>"_s.arg(engineText(info->label).toHtmlEscaped(),
                                                  engineText(info->help).toHtmlEscaped());
        page += choiceList(*info);
    }
    const QString idea = ideaOf(path);
    if (!idea.isEmpty()) page += u"<p>%1</p>"_s.arg(idea.toHtmlEscaped());
    const bool plain = !defaultText.isEmpty() && !defaultText.startsWith(u'{');
    if (plain)
        page += u"<p>%1</p>"_s.arg(HelpPage::tr("Default: %1.").arg(defaultText.toHtmlEscaped()));
    page += u"<p>%1<br><code>--set %2=%3</code></p>"_s.arg(
        HelpPage::tr("On the command line:"), path,
        plain ? defaultText.toHtmlEscaped() : HelpPage::tr("VALUE"));
    return page;
}

void showHelp(QWidget* below, const QString& html) {
    const int width = std::max(380, below->fontMetrics().averageCharWidth() * 58);
    auto* card = new QFrame(below->window(), Qt::Popup);
    card->setAttribute(Qt::WA_DeleteOnClose);
    card->setObjectName(u"help"_s);
    auto* column = makeColumn(card, {size::inside, size::gap, size::inside, size::gap});
    auto* text = new QLabel(html, card);
    text->setWordWrap(true);
    text->setTextFormat(Qt::RichText);
    text->setTextInteractionFlags(Qt::TextBrowserInteraction);
    text->setOpenExternalLinks(true);
    column->addWidget(text);
    // adjustSize() limits a window's height and would cut long words off.
    card->setFixedWidth(width);
    card->setFixedHeight(column->heightForWidth(width) + 2 * size::border);
    QPoint at = below->mapToGlobal(QPoint(0, below->height() + size::grid));
    const QRect screen = below->screen()->availableGeometry();
    at.setX(
        std::clamp(at.x(), screen.left(), std::max(screen.left(), screen.right() - card->width())));
    at.setY(
        std::clamp(at.y(), screen.top(), std::max(screen.top(), screen.bottom() - card->height())));
    card->move(at);
    card->show();
    card->setFocus();
}

}  // namespace ui
