// Limits for the records and bodies in a line to the client.
extension Connection {
    var limits: ClientLimits {
        // A client that accepts a longer line gets larger bodies inline, by the same amount: up to 1 MiB, because they
        // are written on the loop.
        let room = services.limits.inlineBodyBytes + max(0, profile.maximumLineBytes - services.limits.lineBytes)
        return ClientLimits(
            inlineBodyBytes: min(room, 1_048_576), recordBytes: recordBytes,
            takesDescriptors: output.descriptorCount < services.limits.descriptorsPerConnection)
    }

    /// The line less what surrounds a record: the id, at most 1 KiB, and the members of the response.
    var recordBytes: Int { profile.maximumLineBytes - 2_048 }
}
