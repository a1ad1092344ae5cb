internal import CarpoolCaller
internal import CarpoolCurl
internal import CarpoolSystem

/// Pages of the manual, from the same declarations as the help.
struct ManualPage {
    private var roff: Roff

    /// The page carpool(1).
    static func overview(of commands: [any Command.Type], version: String) -> String {
        var page = ManualPage(name: "carpool", summary: "HTTP requests over shared connections", version)
        page.roff.usage("carpool", "COMMAND [OPTIONS] ...")
        page.roff.section("DESCRIPTION")
        page.roff.line(
            "Sends HTTP requests through a daemon, over connections that all programs of this machine share.")
        page.roff.line("Each command has a page of its own, such as carpool-get(1).")
        page.roff.section("COMMANDS")
        for command in commands { page.roff.entry("carpool-\(command.name)(1)", "", sentence(command.summary)) }
        page.roff.section("OPTIONS")
        for option in [OptionSpecification.socket, .help, .version] { page.add(option) }
        page.addEnvironment()
        page.addExitCodes()
        page.addOthers(["carpool-get(1)", "carpoold(8)", "curl(1)"])
        return page.roff.text
    }

    /// The page of a command: carpool-NAME(1).
    static func of(_ command: any Command.Type, version: String) -> String {
        var page = ManualPage(name: "carpool-\(command.name)", summary: command.summary, version)
        page.roff.usage("carpool \(command.name)", command.synopsis)
        page.roff.section("DESCRIPTION")
        if command.details.isEmpty { page.roff.line(sentence(command.summary)) }
        page.add(details: command.details)
        page.roff.section("OPTIONS")
        let isCurl = command.name == "curl"
        if isCurl { page.addOptionsOfCurl() } else { page.add(OptionTopic.groups(of: command.specifications)) }
        page.roff.section("EXAMPLES")
        for example in command.examples { page.roff.example(example) }
        if isCurl {
            page.roff.section("EXIT STATUS")
            page.roff.line("That of curl(1).")
        } else {
            page.addExitCodes()
        }
        page.addEnvironment()
        page.addOthers(["carpool(1)"] + (isCurl ? ["curl(1)"] : []))
        return page.roff.text
    }

    private init(name: String, summary: String, _ version: String) {
        roff = Roff(name: name, version: version)
        roff.section("NAME")
        roff.line("\(name) - \(summary)")
        roff.section("SYNOPSIS")
    }

    private static func sentence(_ summary: String) -> String {
        "\(summary.prefix(1).uppercased())\(summary.dropFirst())."
    }

    private mutating func add(_ groups: [OptionTopic.Group]) {
        for group in groups {
            if groups.count > 1 { roff.subsection(group.title) }
            for option in group.options { add(option) }
        }
    }

    private mutating func add(_ option: OptionSpecification) {
        let short = option.short.map { "-\($0), " } ?? ""
        roff.entry(short + option.long, option.placeholder ?? "", option.summary)
    }

    /// The description: a line with a gap is an entry of a list, others are joined to paragraphs.
    private mutating func add(details: String) {
        for (i, line) in details.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if line.isEmpty {
                roff.paragraph()
            } else if words.count == 2, words[1].hasPrefix(" ") {
                roff.entry(words[0], "", String(words[1].drop { $0 == " " }))
            } else if i == 0 || !line.hasPrefix(" ") {
                roff.line(String(line))
            } else {
                roff.line(String(line.drop { $0 == " " }))
            }
        }
    }

    private mutating func addOptionsOfCurl() {
        for category in CurlHelp.categories {
            roff.subsection(category.title)
            for option in category.options {
                let letter = option.letter.map { "-\($0), " } ?? ""
                roff.entry("\(letter)--\(option.name)", option.argument ?? "", "\(option.help).")
            }
        }
        roff.subsection("Options without an effect")
        roff.line(CurlOption.unchanged.map { "--\($0.name)" }.joined(separator: ", ") + ".")
        roff.subsection("Options that run the real curl")
        roff.line(CurlOption.realOnly.map { "--\($0.name)" }.joined(separator: ", ") + ".")
    }

    private mutating func addEnvironment() {
        roff.section("ENVIRONMENT")
        roff.entry("CARPOOL_SOCKET", "", "The daemon's socket, if there is no --socket. The default is the user's own.")
        roff.entry("CARPOOL_CLIENT", "", "The name of the client for quotas. The default is the terminal or service.")
    }

    private mutating func addExitCodes() {
        roff.section("EXIT STATUS")
        ExitCode.visit { roff.entry(String($0.rawValue), "", ManualPage.sentence($0.meaning)) }
    }

    private mutating func addOthers(_ names: [String]) {
        roff.section("SEE ALSO")
        roff.line(names.joined(separator: ", "))
    }
}
