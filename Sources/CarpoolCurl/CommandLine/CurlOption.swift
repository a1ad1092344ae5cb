/// An option of curl's command line.
package struct CurlOption: Sendable {
    /// What an option does.
    enum Effect: Sendable {
        /// A switch, which `--no-NAME` turns off.
        case flag(@Sendable (inout CurlCommandLine, Bool) throws(CurlError) -> Void)
        /// A switch without an opposite.
        case action(@Sendable (inout CurlCommandLine) throws(CurlError) -> Void)
        /// An option with a text.
        case text(@Sendable (inout CurlCommandLine, String) throws(CurlError) -> Void)
        /// An option with a text that is not empty.
        case word(@Sendable (inout CurlCommandLine, String) throws(CurlError) -> Void)
        /// A file of options.
        case configuration
        /// A switch, or an option with a text, that changes nothing here.
        case nothing(takesText: Bool)
        /// The same with a warning: curl has taken its function away.
        case deprecated(takesText: Bool)
        /// An option that only the real curl has.
        case real(takesText: Bool)
    }

    /// The name after `--`.
    package let name: String
    package let letter: Character?
    /// The placeholder of the text in the help.
    package let argument: String?
    package let help: String
    let effect: Effect
    /// Whether the text names a file, so that one that begins with a dash gets a warning.
    var isFile = false

    /// What it does here, in a list of all options.
    package var summary: String {
        switch effect {
        case .nothing: "Accepted, without an effect"
        case .real: "Runs the real curl"
        default: help
        }
    }

    /// Whether a text follows.
    package var takesText: Bool {
        switch effect {
        case .flag, .action: false
        case .text, .word, .configuration: true
        case .nothing(let takesText), .deprecated(let takesText), .real(let takesText): takesText
        }
    }

    /// Whether `--no-NAME` turns it off.
    var isReversible: Bool {
        switch effect {
        case .flag, .nothing(takesText: false), .deprecated(takesText: false), .real(takesText: false): true
        default: false
        }
    }

    /// A switch.
    static func flag(
        _ name: String, _ letter: Character? = nil, _ help: String,
        _ change: @escaping @Sendable (inout CurlCommandLine, Bool) throws(CurlError) -> Void
    ) -> CurlOption {
        CurlOption(name: name, letter: letter, argument: nil, help: help, effect: .flag(change))
    }

    /// A switch that sets a member.
    static func set(
        _ name: String, _ letter: Character? = nil, _ help: String,
        _ member: @escaping @Sendable (inout CurlCommandLine, Bool) -> Void
    ) -> CurlOption {
        CurlOption(name: name, letter: letter, argument: nil, help: help, effect: .flag { member(&$0, $1) })
    }

    /// A switch without an opposite.
    static func action(
        _ name: String, _ letter: Character? = nil, _ help: String,
        _ change: @escaping @Sendable (inout CurlCommandLine) throws(CurlError) -> Void
    ) -> CurlOption {
        CurlOption(name: name, letter: letter, argument: nil, help: help, effect: .action(change))
    }

    /// An option with a text.
    static func text(
        _ name: String, _ letter: Character? = nil, _ argument: String, _ help: String,
        _ change: @escaping @Sendable (inout CurlCommandLine, String) throws(CurlError) -> Void
    ) -> CurlOption {
        CurlOption(name: name, letter: letter, argument: argument, help: help, effect: .text(change))
    }

    /// An option with a text that is not empty.
    static func word(
        _ name: String, _ letter: Character? = nil, _ argument: String, _ help: String,
        _ change: @escaping @Sendable (inout CurlCommandLine, String) throws(CurlError) -> Void
    ) -> CurlOption {
        CurlOption(name: name, letter: letter, argument: argument, help: help, effect: .word(change))
    }

    /// An option with the name of a file.
    static func file(
        _ name: String, _ letter: Character? = nil, _ argument: String, _ help: String, allowsBlank: Bool = false,
        _ change: @escaping @Sendable (inout CurlCommandLine, String) throws(CurlError) -> Void
    ) -> CurlOption {
        CurlOption(
            name: name, letter: letter, argument: argument, help: help,
            effect: allowsBlank ? .text(change) : .word(change), isFile: true)
    }
}
