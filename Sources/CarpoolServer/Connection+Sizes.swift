// How much of a response stands in a line to the client.
extension Connection {
    /// A client that has raised its line gets larger bodies inline, less the same room for head and metrics.
    var inlineBodyBytes: Int {
        server.limits.inlineBodyBytes + max(0, maximumLineBytes - server.limits.lineBytes)
    }

    /// The line less what surrounds a record: the id, at most 1 KiB, and the members of the response.
    var recordBytes: Int { maximumLineBytes - 2_048 }

    var takesDescriptors: Bool { output.descriptorCount < server.limits.descriptorsPerConnection }
}
