// Command descriptors writes what the official client library knows of OpAMP's messages to standard output, as a
// FileDescriptorSet: `make protobuf` makes the Python classes of it.
package main

import (
	"fmt"
	"os"

	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

func main() {
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto(protobufs.File_anyvalue_proto),
		protodesc.ToFileDescriptorProto(protobufs.File_opamp_proto),
	}}
	content, err := proto.Marshal(set)
	if err == nil {
		_, err = os.Stdout.Write(content)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
