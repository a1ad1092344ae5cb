/// `carpool get`
enum GetCommand: RequestCommand {
    static let name = "get"
    static let method = "GET"
    static let summary = "fetch a URL"
    static let details = """
        The body is printed on standard output while it arrives, and the exit code says whether it was whole;
        error messages go to standard error. On a terminal JSON is laid out, and nothing binary is printed.
        Redirects are followed. The daemon keeps connections open and uses them again for the requests of all
        programs. With -o FILE the daemon writes the file, and a terminal shows the progress; -C - resumes an
        interrupted download.
        """

    static var examples: [String] {
        [
            "carpool get https://example.com/", "carpool get --fail -o page.html https://example.com/",
            "carpool get -H 'Accept: text/plain' --timeout 2.5 https://example.com/",
            "carpool get -C - -o image.iso https://example.com/image.iso",
            "carpool get --lines https://example.com/log",
        ]
    }

    static var options: [Option<RequestArguments>] {
        Option.ofRequest([.method, .header, .head, .output, .remoteName, .resume] + Option.streams)
    }
}
