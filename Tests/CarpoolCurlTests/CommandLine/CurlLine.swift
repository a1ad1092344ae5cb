import CarpoolSystem

@testable import CarpoolCurl

/// Reads the words of a command line of curl.
enum CurlLine {
    static func read(_ words: [String], _ variables: [String: String] = [:]) throws -> CurlCommandLine {
        var line = CurlCommandLine(Environment(variables))
        try CurlArguments.read(words, into: &line)
        return line
    }

    static func failure(_ words: [String]) -> CurlError? {
        var line = CurlCommandLine(Environment([:]))
        do throws(CurlError) { try CurlArguments.read(words, into: &line) } catch { return error }
        return nil
    }
}
