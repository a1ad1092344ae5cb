/// All options of curl's command line.
enum CurlOptionTable {
    /// In the order of the help.
    static let all: [CurlOption] =
        CurlOption.general + CurlOption.output + CurlOption.transfer + CurlOption.request + CurlOption.fields
        + CurlOption.connection + CurlOption.proxies + CurlOption.authentication + CurlOption.security
        + CurlOption.unchanged + CurlOption.realOnly

    /// The option of a long name.
    static func named(_ name: String) -> CurlOption? { all.first { $0.name == name } }

    /// The option of a letter.
    static func lettered(_ letter: Character) -> CurlOption? { all.first { $0.letter == letter } }
}
