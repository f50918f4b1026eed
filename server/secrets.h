// Who may ask: a token that requests bear.
#pragma once

#include <string>
#include <string_view>

namespace elias::server {

/// The token in a file, without blanks around it. Throws InputError if there is none, or one that
/// no header could hold.
std::string read_token(const std::string& path);

/// Whether the header says "Bearer TOKEN"; true if no token is wanted. How long it takes says
/// nothing about how much of a wrong token is right.
bool bears_token(std::string_view header, std::string_view token);

}  // namespace elias::server
