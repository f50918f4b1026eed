// The signals that tell a process to stop: Ctrl-C, SIGTERM, SIGHUP.
#pragma once

namespace elias {

/// Calls `handler` for each of them, but for those that are ignored: whoever started the process
/// (nohup, a shell's background job) wants it to go on. May be called by a handler itself.
void on_stop_signals(void (*handler)(int signal));

}  // namespace elias
