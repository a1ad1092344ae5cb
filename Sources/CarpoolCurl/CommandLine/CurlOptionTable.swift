/// All options of curl's command line.
package enum CurlOptionTable {
    /// In the order of the help.
    package static var all: [CurlOption] { topics.flatMap { $0() } }

    /// The options in lists, which are searched from the first one on, and made when the search comes to them: a list
    /// takes 4,000 instructions, and a command line has few options. To join the lists or to make a dictionary takes as
    /// long as the options of several lines.
    private static let topics: [@Sendable () -> [CurlOption]] = [
        { CurlOption.general }, { CurlOption.output }, { CurlOption.transfer }, { CurlOption.request },
        { CurlOption.fields }, { CurlOption.connection }, { CurlOption.proxies }, { CurlOption.authentication },
        { CurlOption.security }, { CurlOption.unchanged }, { CurlOption.realOnly },
    ]

    /// The option of a long name.
    package static func named(_ name: String) -> CurlOption? { first { $0.name == name } }

    /// The option of a letter.
    static func lettered(_ letter: Character) -> CurlOption? { first { $0.letter == letter } }

    /// Whether there is an option of this name, with its dashes.
    package static func has(_ name: String) -> Bool {
        if name.hasPrefix("--no-"), named(String(name.dropFirst(5))) != nil { return true }
        if name.hasPrefix("--") { return named(String(name.dropFirst(2))) != nil }
        return name.dropFirst().first.map { lettered($0) != nil } ?? false
    }

    private static func first(where matches: (CurlOption) -> Bool) -> CurlOption? {
        for topic in topics {
            if let option = topic().first(where: matches) { return option }
        }
        return nil
    }
}
