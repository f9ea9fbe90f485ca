#include "text/policy_text.h"

#include <QCoreApplication>
#include <cmath>

#include "engine/settings/catalog.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct PolicyWords {
    Q_DECLARE_TR_FUNCTIONS(PolicyWords)
public:
    static QString constant(double scale) { return tr("Static %1").arg(powerOfTwo(scale)); }
    static QString start(double scale) { return tr("Initial scale %1").arg(powerOfTwo(scale)); }
    static QString hysteresis(const QString& skips) {
        return tr("Backoff after %1 skips").arg(skips);
    }
    static QString none() { return tr("No loss scaler"); }
};

}  // namespace

QString policyTitle(const std::string& policy) {
    for (const auto& info : engine::scaler_presets()) {
        if (info.preset == policy) return engineText(info.title);
    }
    const QString key = QString::fromStdString(policy);
    const QString number = key.section(u'-', -1);
    if (key.startsWith(u"static-"_s)) return PolicyWords::constant(number.toDouble());
    if (key.startsWith(u"init-2^"_s))
        return PolicyWords::start(std::exp2(number.section(u'^', 1).toDouble()));
    if (key.startsWith(u"hysteresis-"_s)) return PolicyWords::hysteresis(number);
    return policy == "none" ? PolicyWords::none() : key;
}

}  // namespace ui
