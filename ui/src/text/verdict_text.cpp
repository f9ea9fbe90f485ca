#include "text/verdict_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "text/event_text.h"
#include "text/language.h"
#include "text/setting_error_text.h"

namespace ui {
namespace {

struct VerdictWords {
    Q_DECLARE_TR_FUNCTIONS(VerdictWords)
};

}  // namespace

QString costText(const engine::Verdict& verdict) {
    QStringList parts;
    for (const auto& part : verdict.cost) parts << engineText(part);
    return parts.isEmpty() ? QString() : capitalised(sentence(parts.join(VerdictWords::tr(", "))));
}

QString evidenceText(const engine::Verdict& verdict) {
    QStringList sentences;
    for (const auto& each : verdict.evidence) sentences << engineText(each);
    return joined(sentences);
}

}  // namespace ui
