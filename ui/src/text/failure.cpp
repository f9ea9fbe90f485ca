#include "text/failure.h"

#include "engine/base/error.h"
#include "text/language.h"
#include "text/setting_error_text.h"

namespace ui {

Failure::Failure(const std::exception& error) : message_(engine::Message(error.what())) {
    const auto* own = dynamic_cast<const engine::Error*>(&error);
    if (own == nullptr) return;
    message_ = own->message();
    hint_ = own->hint();
}

QString Failure::sentence() const { return engineText(message_); }

QString Failure::hint() const { return capitalised(engineText(hint_)); }

QString Failure::text() const { return joined({sentence(), hint()}); }

}  // namespace ui
