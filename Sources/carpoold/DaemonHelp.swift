internal import CarpoolServer
internal import CarpoolSystem

/// The help of the daemon and its page of the manual, carpoold(8), from the table of its options.
enum DaemonHelp {
    private static let signals = [
        ("SIGTERM, SIGINT", "finish the running requests and exit; a second one exits at once"),
        ("SIGHUP", "load the configuration again"),
    ]

    private static let exitCodes = ["0": "ended as asked", "1": "cannot serve", "2": "wrong usage"]

    private static let variables = [
        ("CARPOOL_SOCKET", "The socket to serve, if there is no --socket."),
        ("XDG_RUNTIME_DIR", "The directory of the socket. Without it: /run/user/UID, then XDG_STATE_HOME."),
        ("XDG_CONFIG_HOME", "The directory of the configuration. The default is ~/.config."),
        ("XDG_STATE_HOME", "The directory of the lock, the log and the cookies. The default is ~/.local/state."),
        ("XDG_CACHE_HOME", "The directory of the spool and of stored responses. The default is ~/.cache."),
        ("LISTEN_FDS", "The supervisor passes the socket, as systemd does (sd_listen_fds(3))."),
    ]

    private static let files = [
        ("$XDG_RUNTIME_DIR/carpool/carpool.sock", "The socket."),
        ("$XDG_CONFIG_HOME/carpool/config.json", "The configuration, which may be missing."),
        ("$XDG_STATE_HOME/carpool/carpoold.lock", "The lock: its first line is the pid of the daemon that serves."),
        ("$XDG_STATE_HOME/carpool/carpoold.log", "The log of a daemon that the command has started."),
        ("$XDG_CACHE_HOME/carpool/spool/", "Large bodies, until their clients have read them."),
    ]

    private static var servingUsage: String { DaemonOption.serving.map { "[\($0.usage)]" }.joined(separator: " ") }
    private static var printingUsage: String { DaemonOption.printing.map(\.name).joined(separator: " | ") }

    /// What `--help` prints.
    static var text: String {
        let options = DaemonOption.serving + DaemonOption.printing
        let names = options.map { option in (option.alias.map { "\($0), " } ?? "") + option.usage }
        let width = (names.map(\.count).max() ?? 0) + 2
        let lines = zip(names, options).map { name, option in
            "  \(name)\(String(repeating: " ", count: width - name.count))\(option.summary)\n"
        }
        let signals = signals.map { "\($0.0): \($0.1)" }.joined(separator: ". ")
        let codes = exitCodes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return """
            usage: carpoold \(servingUsage)
                   carpoold \(printingUsage)

            \(lines.joined())
            Signals: \(signals).
            Exit status: \(codes).

            """
    }

    /// What `--man` prints.
    static var page: String {
        var page = Roff(name: "carpoold", section: 8, version: ServerVersion.text)
        page.section("NAME")
        page.line("carpoold - HTTP requests of all programs of a user over shared connections")
        page.section("SYNOPSIS")
        page.usage("carpoold", servingUsage)
        page.paragraph()
        page.usage("carpoold", printingUsage)
        page.section("DESCRIPTION")
        page.line("Serves one HTTP session to all programs of a user, over JSON-RPC 2.0 on a Unix socket.")
        page.line("It shares connections, resolved names and TLS handshakes among them.")
        page.line("It runs in the foreground; carpool(1) starts it in the background when a request needs it.")
        page.section("OPTIONS")
        for option in DaemonOption.serving + DaemonOption.printing {
            let names = (option.alias.map { "\($0), " } ?? "") + option.name
            page.entry(names, option.placeholder ?? "", sentence(option.summary))
        }
        page.section("SIGNALS")
        for (name, words) in signals { page.entry(name, "", sentence(words)) }
        page.section("EXIT STATUS")
        for (code, words) in exitCodes.sorted(by: { $0.key < $1.key }) { page.entry(code, "", sentence(words)) }
        page.section("ENVIRONMENT")
        for (name, words) in variables { page.entry(name, "", words) }
        page.section("FILES")
        for (name, words) in files { page.entry(name, "", words) }
        page.section("SEE ALSO")
        page.line("carpool(1), carpool-daemon(1), systemd.socket(5)")
        return page.text
    }

    private static func sentence(_ summary: String) -> String {
        "\(summary.prefix(1).uppercased())\(summary.dropFirst())."
    }
}
