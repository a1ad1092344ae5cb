/// `carpool head`
enum HeadCommand: RequestCommand {
    static let name = "head"
    static let method = "HEAD"
    static let summary = "fetch the status and header of a URL"
    static let details = "The status and the header fields are printed in the form of HTTP/1.1; there is no body."

    static var examples: [String] { ["carpool head https://example.com/"] }

    static var options: [Option<RequestArguments>] { Option.ofRequest([.method, .header, .output]) }

    static var arguments: RequestArguments {
        var arguments = RequestArguments(method: method)
        arguments.printsHead = true
        return arguments
    }
}
