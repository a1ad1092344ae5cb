/// `carpool get`
enum GetCommand: RequestCommand {
    static let name = "get"
    static let method = "GET"
    static let summary = "fetch a URL"
    static let details = """
        The body goes to standard output, which gets all of it or nothing; errors go to standard error.
        Redirects are followed. The request goes through the daemon's pool, so that the connection of an
        earlier call is used again, whichever program made it. With -o FILE the daemon writes the file, and
        a terminal shows the progress; what broke off goes on with -C -.
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
        [.method, .header, .output, .resume] + Option.streams + Option.everyRequest
    }
}
